// SPDX-License-Identifier: Apache-2.0
#include "d5/level2_training/data/published_data.hpp"

namespace d5 {
namespace {

/// The four files of MNIST or of a drop-in replacement.
std::vector<PublishedFile> idx_files(const PublishedFile& train_images,
                                     const PublishedFile& train_labels,
                                     const PublishedFile& test_images,
                                     const PublishedFile& test_labels) {
  std::vector<PublishedFile> files{train_images, train_labels, test_images, test_labels};
  files[0].name = "train-images-idx3-ubyte.gz";
  files[1].name = "train-labels-idx1-ubyte.gz";
  files[2].name = "t10k-images-idx3-ubyte.gz";
  files[3].name = "t10k-labels-idx1-ubyte.gz";
  return files;
}

void add_idx(Registry<PublishedData>& registry) {
  constexpr auto kContent = Download::Sum::content;
  registry.add("mnist", {.folder = "mnist",
                         .content = "60,000 + 10,000 images",
                         .licence = "CC BY-SA 3.0",
                         .source = "http://yann.lecun.com/exdb/mnist/",
                         .mirrors = {"https://ossci-datasets.s3.amazonaws.com/mnist/",
                                     "https://storage.googleapis.com/cvdf-datasets/mnist/"},
                         .files = idx_files(
                             {{},
                              9912422,
                              "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
                              kContent},
                             {{},
                              28881,
                              "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
                              kContent},
                             {{},
                              1648877,
                              "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
                              kContent},
                             {{},
                              4542,
                              "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
                              kContent})});
  registry.add(
      "fashion-mnist",
      {.folder = "fashion-mnist",
       .content = "60,000 + 10,000 images",
       .licence = "MIT",
       .source = "https://github.com/zalandoresearch/fashion-mnist",
       .mirrors =
           {"https://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
            "https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion/"},
       .files = idx_files(
           {{}, 26421880, "3aede38d61863908ad78613f6a32ed271626dd12800ba2636569512369268a84"},
           {{}, 29515, "a04f17134ac03560a47e3764e11b92fc97de4d1bfaf8ba1a3aa29af54cc90845"},
           {{}, 4422102, "346e55b948d973a97e58d2351dde16a484bd415d4595297633bb08f03db6a073"},
           {{}, 5148, "67da17c76eaffca5446c3361aaab5c3cd6d1c2608764d35dfb1850b086bf8dd5"})});
  registry.add(
      "kmnist",
      {.folder = "kmnist",
       .content = "60,000 + 10,000 images",
       .licence = "CC BY-SA 4.0",
       .source = "http://codh.rois.ac.jp/kmnist/",
       .mirrors = {"https://codh.rois.ac.jp/kmnist/dataset/kmnist/",
                   "http://codh.rois.ac.jp/kmnist/dataset/kmnist/"},
       .files = idx_files(
           {{}, 18165135, "51467d22d8cc72929e2a028a0428f2086b092bb31cfb79c69cc0a90ce135fde4"},
           {{}, 29497, "e38f9ebcd0f3ebcdec7fc8eabdcdaef93bb0df8ea12bee65224341c8183d8e17"},
           {{}, 3041136, "edd7a857845ad6bb1d0ba43fe7e794d164fe2dce499a1694695a792adfac43c5"},
           {{}, 5120, "20bb9a0ef54c7db3efc55a92eef5582c109615df22683c380526788f98e42a1c"})});
}

void add_cifar(Registry<PublishedData>& registry) {
  registry.add("cifar-10",
               {.folder = "cifar-10-batches-bin",
                .content = "50,000 + 10,000 images",
                .licence = "none stated",
                .source = "https://www.cs.toronto.edu/~kriz/cifar.html",
                .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
                .files = {{"cifar-10-binary.tar.gz", 170052171,
                           "c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd"}}});
  registry.add("cifar-100",
               {.folder = "cifar-100-binary",
                .content = "50,000 + 10,000 images",
                .licence = "none stated",
                .source = "https://www.cs.toronto.edu/~kriz/cifar.html",
                .mirrors = {"https://www.cs.toronto.edu/~kriz/"},
                .files = {{"cifar-100-binary.tar.gz", 168513733,
                           "58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec"}}});
}

void add_by_hand(Registry<PublishedData>& registry) {
  registry.add("imagenet",
               {.folder = "imagenet",
                .content = "1,281,167 + 50,000 images, 148 GB",
                .licence = "for research, by agreement",
                .source = "https://image-net.org/download.php",
                .by_hand = "register there and put ILSVRC2012_img_train.tar into the folder as it "
                           "is, or the class folders of the training images into its 'train', "
                           "those of the validation images into its 'val'"});
  registry.add("ucf-101",
               {.folder = "ucf-101",
                .content = "9,537 + 3,783 videos, 6.9 GB",
                .licence = "not stated",
                .source = "https://www.crcv.ucf.edu/data/UCF101.php",
                .by_hand = "unpack UCF101.rar into the folder's 'UCF-101', and the lists for "
                           "action recognition into its 'ucfTrainTestlist'"});
}

}  // namespace

std::string word_of(FileState::Is is) {
  switch (is) {
    case FileState::Is::right:
      return "right";
    case FileState::Is::unpacked:
      return "unpacked";
    case FileState::Is::missing:
      return "missing";
    case FileState::Is::wrong:
      break;
  }
  return "wrong";
}

Registry<PublishedData>& published_data() {
  static Registry<PublishedData> registry("published data set", [](Registry<PublishedData>& fresh) {
    add_idx(fresh);
    add_cifar(fresh);
    add_by_hand(fresh);
  });
  return registry;
}

}  // namespace d5
