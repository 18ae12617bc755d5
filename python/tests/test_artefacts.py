# SPDX-License-Identifier: Apache-2.0
"""The store of artefacts, and the machine's peak."""

import hashlib

import pytest

import d5


def test_a_store_keeps_files_by_their_digest(tmp_path):
    (tmp_path / "a.bin").write_bytes(b"weights")
    digest = hashlib.sha256(b"weights").hexdigest()
    store = d5.ArtefactStore(tmp_path / "store")
    assert store.held() == [] and not store.has(digest)
    added = store.add(tmp_path / "a.bin")
    assert added == {"name": "a.bin", "sha256": digest, "bytes": 7, "urls": []}
    assert [one["sha256"] for one in store.held()] == [digest]
    assert store.fetch(digest) == store.path_of(digest)
    with open(store.fetch(digest), "rb") as file:
        assert file.read() == b"weights"
    assert store.verify() == []
    assert store.collect(0, keep=[digest]) == [] and store.has(digest)
    assert [one["name"] for one in store.collect(0)] == ["a.bin"] and not store.has(digest)


def test_a_store_fetches_what_it_lacks_and_nothing_else(tmp_path):
    (tmp_path / "b.bin").write_bytes(b"graph")
    store = d5.ArtefactStore(tmp_path / "store")
    url = f"file://{tmp_path}/b.bin"
    assert store.fetch(hashlib.sha256(b"graph").hexdigest(), ["file:///nowhere/b.bin", url])
    with pytest.raises(d5.IoError, match="SHA-256"):
        store.fetch("0" * 64, url)
    with pytest.raises(d5.ValueError, match="expected 64 digits"):
        store.collect(0, keep=["none"])


def test_a_peak_that_was_never_measured_is_zero(tmp_path, monkeypatch):
    monkeypatch.setenv("D5_CACHE_DIR", str(tmp_path))
    assert d5.machine_peak().float32_flop_rate == 0
    peak = d5.measure_machine_peak()
    assert min(peak.float32_flop_rate, peak.float64_flop_rate, peak.byte_rate) > 0
    assert d5.machine_peak().byte_rate == peak.byte_rate
