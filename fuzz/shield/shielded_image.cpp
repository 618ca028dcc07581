// SPDX-License-Identifier: BSD-3-Clause
#include "shielded_image.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "scute/scute.h"

namespace scute::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr size_t file_size = 60'001;

[[noreturn]] void give_up(const std::string& what) {
  std::fprintf(stderr, "fuzz: cannot make the images (%s): %s\n", what.c_str(), scute_errormsg());
  std::abort();
}
void need(int result, const char* what) {
  if (result != SCUTE_OK) give_up(what);
}

// In memory if possible. The process that has made it takes it away.
struct folder {
  folder() : owner(::getpid()) {
    std::string name =
        (::access("/dev/shm", W_OK) == 0 ? std::string("/dev/shm") : std::string(".")) +
        "/scute-fuzz-shield.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) give_up("a folder");
    path = name;
  }
  ~folder() {
    std::error_code e;
    if (::getpid() == owner) fs::remove_all(path, e);
  }
  std::string path;
  pid_t owner;
};

bytes painted(uint8_t key) {
  bytes b(file_size);
  uint32_t x = key;
  for (std::byte& c : b) {
    x = x * 1664525 + 1013904223;
    c = static_cast<std::byte>(x >> 24);
  }
  return b;
}

class maker {
 public:
  explicit maker(const std::string& path) : path_(path) {}

  void begin(scute_engine engine, uint32_t parity, uint8_t key) {
    content_ = painted(key);
    write_all(path_, content_);
    scute_options_init(&options_);
    options_.engine = engine;
    options_.parity = parity;
    options_.rows = 6;
    options_.lanes = 2;
    need(scute_shield_add(path_.c_str(), &options_, file_size + 30'000, 0), "add");
  }
  // A session of a few changes. keep: what is there when it is killed.
  void work(shielded_image* keep) {
    scute_pool* pool = nullptr;
    need(scute_shield_open(path_.c_str(), nullptr, &pool), "open");
    for (uint64_t i = 0; i < 3; ++i) {
      const bytes more(700, static_cast<std::byte>('a' + i));
      const uint64_t at = 3000 + 9000 * i;
      const scute_shield_change c{at, more.data(), more.size()};
      need(scute_shield_write(pool, &c, 1), "write");
      std::copy(more.begin(), more.end(), content_.begin() + static_cast<ptrdiff_t>(at));
    }
    if (keep != nullptr) snap(*keep, false);
    need(scute_close(pool), "close");
  }
  void snap(shielded_image& to, bool clean) const {
    to.path = path_;
    to.file = read_all(path_);
    to.sidecar = read_all(path_ + ".scute");
    to.recorded = content_;
    to.clean = clean;
  }

 private:
  std::string path_;
  scute_options options_{};
  bytes content_;
};

std::vector<shielded_image> make_all(const std::string& in) {
  std::vector<shielded_image> all;
  const auto next = [&](const char* name) -> std::string {
    all.emplace_back();
    all.back().name = name;
    return in + "/" + std::to_string(all.size()) + ".dat";
  };
  constexpr struct {
    const char *clean, *unclean;
    scute_engine engine;
    uint32_t parity;
  } kinds[] = {{"logfree", "logfree, killed", SCUTE_ENGINE_LOGFREE, 1},
               {"redo", "redo, killed", SCUTE_ENGINE_REDO, 1},
               {"logfree, two parities", "logfree, two parities, killed", SCUTE_ENGINE_LOGFREE, 2},
               {"spec", "spec, killed", SCUTE_ENGINE_SPEC, 1}};
  for (const auto& k : kinds) {
    // On a disk its log is a file of its own, which no input changes.
    if (k.engine == SCUTE_ENGINE_SPEC && !in.starts_with("/dev/shm")) continue;
    maker clean(next(k.clean));
    clean.begin(k.engine, k.parity, 1);
    clean.work(nullptr);
    clean.snap(all.back(), true);
    maker killed(next(k.unclean));
    killed.begin(k.engine, k.parity, 2);
    killed.work(&all.back());
  }
  // The sidecar of another file of this size; and this file's sidecar before the last session.
  maker a(next("of another file"));
  a.begin(SCUTE_ENGINE_LOGFREE, 1, 3);
  a.snap(all.back(), true);
  all.back().file = all.front().file;
  maker b(next("older"));
  b.begin(SCUTE_ENGINE_LOGFREE, 1, 4);
  b.snap(all.back(), true);
  b.work(nullptr);
  all.back().file = read_all(all.back().path);
  return all;
}

}  // namespace

bytes read_all(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  bytes b(static_cast<size_t>(::lseek(fd, 0, SEEK_END)));
  if (::pread(fd, b.data(), b.size(), 0) != static_cast<ssize_t>(b.size())) give_up("read");
  ::close(fd);
  return b;
}

void write_all(const std::string& path, const bytes& content) {
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(content.size())) != 0 ||
      ::pwrite(fd, content.data(), content.size(), 0) != static_cast<ssize_t>(content.size()))
    give_up("write " + path);
  ::close(fd);
}

const std::vector<shielded_image>& shielded_images() {
  static const folder in;
  static const std::vector<shielded_image> all = make_all(in.path);
  return all;
}

}  // namespace scute::fuzz
