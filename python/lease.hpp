// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>

namespace d5::python {

/// The time for which Python may use what d5 lends to it: memory that is reused, or an object that
/// lives as long as a call.
class Lease {
 public:
  /// `what` names the lender in messages: "a kernel's call". It outlives the lease.
  explicit Lease(const char* what) : what_(what) {}

  void end() { over_ = true; }
  /// Throws: ValueError when the lease is over.
  void expect_good() const {
    if (over_) [[unlikely]]
      throw_over();
  }

 private:
  [[noreturn]] void throw_over() const;

  const char* what_;
  std::atomic<bool> over_ = false;
};
using SharedLease = std::shared_ptr<Lease>;

/// A lease that holds as long as this object lives: around a call of Python.
class LeaseScope {
 public:
  explicit LeaseScope(const char* what) : lease_(std::make_shared<Lease>(what)) {}
  ~LeaseScope() { lease_->end(); }
  LeaseScope(const LeaseScope&) = delete;
  LeaseScope& operator=(const LeaseScope&) = delete;
  [[nodiscard]] const SharedLease& lease() const { return lease_; }

 private:
  SharedLease lease_;
};

/// A lease for what `object` (an executor, a sampler) hands out: it holds until `object` is used
/// again, which `Use` reports. Call with the GIL.
[[nodiscard]] SharedLease lease_until_next_use(const void* object, const char* what);
void end_lease_of(const void* object);

/// A d5 object, lent to Python. Use after the lease throws ValueError.
template <class T>
class Lent {
 public:
  Lent(T& object, SharedLease lease) : object_(&object), lease_(std::move(lease)) {}

  [[nodiscard]] T& operator*() const {
    lease_->expect_good();
    return *object_;
  }
  [[nodiscard]] T* operator->() const { return &**this; }
  [[nodiscard]] const SharedLease& lease() const { return lease_; }

 private:
  T* object_;
  SharedLease lease_;
};

}  // namespace d5::python
