// SPDX-License-Identifier: BSD-3-Clause
#include "hostile/lossy_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <string_view>

#include "support/mapping.hpp"
#include "support/page.hpp"

namespace scute::test {
namespace {

std::atomic<lossy_folder*> current_folder{nullptr};
// Its own calls are not recorded.
thread_local bool inside = false;

class looking {
 public:
  looking() { inside = true; }
  ~looking() { inside = false; }
};

bytes content_of(int fd) {
  struct stat st{};
  if (::fstat(fd, &st) != 0) throw std::runtime_error("fstat");
  bytes b(static_cast<size_t>(st.st_size));
  size_t got = 0;
  while (got < b.size()) {
    const ssize_t n = ::pread(fd, b.data() + got, b.size() - got, static_cast<off_t>(got));
    if (n <= 0) throw std::runtime_error("pread");
    got += static_cast<size_t>(n);
  }
  return b;
}

std::pair<uint64_t, uint64_t> node_of(int fd) {
  struct statx st{};
  if (::statx(fd, "", AT_EMPTY_PATH, STATX_INO | STATX_BTIME, &st) != 0)
    throw std::runtime_error("statx");
  return {st.stx_ino,
          static_cast<uint64_t>(st.stx_btime.tv_sec) * 1'000'000'000 + st.stx_btime.tv_nsec};
}

// One that this process has of a file of this device, as it is mapped; the file may have no name.
// -1: none.
int descriptor_of(uint64_t device, const mapping::file& mapped) {
  for (const auto& e : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::atoi(e.path().filename().c_str());
    struct stat st{};
    if (::fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_dev == device &&
        st.st_ino == mapped.inode && mapped_file(fd) == mapped)
      return fd;
  }
  return -1;
}

// A page of one or of the other, and its length likewise.
bytes mixture(const bytes& a, const bytes& b, uint64_t key) {
  bytes m = key % 2 == 0 ? a : b;
  for (uint64_t at = 0; at < m.size(); at += page) {
    const bytes& from = (at / page * 0x9e3779b97f4a7c15u + key) >> 17 & 1 ? a : b;
    if (at >= from.size()) continue;
    const uint64_t n = std::min({page, m.size() - at, from.size() - at});
    std::memcpy(m.data() + at, from.data() + at, n);
  }
  return m;
}

}  // namespace

lossy_folder::lossy_folder(std::string path) : path_(std::move(path)) {
  const looking now;
  struct stat st{};
  if (::stat(path_.c_str(), &st) != 0) throw std::runtime_error("no folder " + path_);
  device_ = st.st_dev;
  inode_ = st.st_ino;
  look();
  for (auto& [id, v] : nodes_) v.durable = v.now;
  current_folder = this;
}

lossy_folder::~lossy_folder() {
  current_folder = nullptr;
}

// The same content is one object, so that states cost little.
std::shared_ptr<const bytes> lossy_folder::kept(bytes content) {
  const std::string_view text(reinterpret_cast<const char*>(content.data()), content.size());
  auto& known = contents_[std::hash<std::string_view>()(text)];
  for (const auto& c : known)
    if (*c == content) return c;
  return known.emplace_back(std::make_shared<const bytes>(std::move(content)));
}

// Records the names that exist now.
void lossy_folder::look() {
  names there;
  DIR* const folder = ::opendir(path_.c_str());
  if (folder == nullptr) throw std::runtime_error("opendir");
  while (const dirent* e = ::readdir(folder)) {
    const std::string name = e->d_name;
    if (name == "." || name == "..") continue;
    const std::string full = path_ + "/" + name;
    struct stat st{};
    // Opens files of any permissions.
    const int fd = ::open(full.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || ::fstat(fd, &st) != 0) throw std::runtime_error("open " + full);
    const node id = node_of(fd);
    there[name] = id;
    versions& v = nodes_[id];
    bytes b = content_of(fd);
    if (v.now.content == nullptr || *v.now.content != b) v.now.content = kept(std::move(b));
    v.now.mode = st.st_mode & 07777U;
    if (v.durable.content == nullptr) v.durable = {kept({}), v.now.mode};
    ::close(fd);
  }
  ::closedir(folder);
  if (named_.empty() || named_.back() != there) named_.push_back(std::move(there));
}

// which: 0 durable bytes and permissions, 1 those of now, above: some of both.
void lossy_folder::add(const std::string& story, bool done, const names& named, unsigned which) {
  files what;
  std::string key = done ? "done" : "";
  uint64_t k = which;
  for (const auto& [name, id] : named) {
    const versions& v = nodes_.at(id);
    file f = which == 0 ? v.durable : v.now;
    ++k;
    if (which > 1) {
      f.content = kept(mixture(*v.durable.content, *v.now.content, k * 0x2545f4914f6cdd1du));
      if (k % 2 == 0) f.mode = v.durable.mode;
    }
    key += name + "/" + std::to_string(reinterpret_cast<uintptr_t>(f.content.get())) + "/" +
           std::to_string(f.mode) + "\n";
    what[name] = std::move(f);
  }
  if (reported_.insert(key).second) states_.push_back({story, done, std::move(what)});
}

void lossy_folder::moment(const std::string& call, bool done) {
  look();
  ++moments_;
  const std::string at = "moment " + std::to_string(moments_) + ", before " + call + ": ";
  if (!done) add(at + "killed", done, named_.back(), 1);
  for (size_t i = 0; i < named_.size(); ++i)
    for (unsigned which = 0; which < 4; ++which)
      add(at + "power failure, names after " + std::to_string(i) + " of " +
              std::to_string(named_.size() - 1) + " changes, " +
              (which == 0   ? "old bytes"
               : which == 1 ? "new bytes"
                            : "some bytes"),
          done, named_[i], which);
}

const std::vector<lossy_folder::state>& lossy_folder::end() {
  const looking now;
  const std::lock_guard hold(mutex_);
  current_folder = nullptr;
  moment("anything else", true);
  return states_;
}

void lossy_folder::restore(const std::string& folder, const state& s, const std::string& kept) {
  for (const auto& e : std::filesystem::directory_iterator(folder))
    if (e.path().filename() != kept) std::filesystem::remove(e.path());
  for (const auto& [name, f] : s.what) {
    const std::string full = folder + "/" + name;
    const int fd = ::open(full.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(f.content->size())) != 0 ||
        ::pwrite(fd, f.content->data(), f.content->size(), 0) !=
            static_cast<ssize_t>(f.content->size()) ||
        ::fchmod(fd, f.mode) != 0)
      throw std::runtime_error("restore " + full);
    ::close(fd);
  }
}

// ---- calls reported by the fault injector -------------------------------------------------------

void lossy_folder::note_sync(int fd) {
  struct stat st{};
  if (::fstat(fd, &st) != 0 || st.st_dev != device_) return;
  if (S_ISDIR(st.st_mode)) {
    if (st.st_ino != inode_) return;
    look();
    named_.erase(named_.begin(), named_.end() - 1);
    return;
  }
  if (!S_ISREG(st.st_mode)) return;
  versions& v = nodes_[node_of(fd)];
  v.now = {kept(content_of(fd)), st.st_mode & 07777U};
  v.durable = v.now;
}

// Of a mapping: these bytes, and how long the file is.
void lossy_folder::note_sync(const void* at, size_t n) {
  const auto begin = reinterpret_cast<uint64_t>(at);
  any_mapping([&](const mapping& m) {
    if (m.end <= begin || m.begin >= begin + n || m.of.inode == 0) return false;
    const int fd = descriptor_of(device_, m.of);
    if (fd < 0) return false;
    struct stat st{};
    if (::fstat(fd, &st) != 0) throw std::runtime_error("fstat");
    versions& v = nodes_[node_of(fd)];
    v.now = {kept(content_of(fd)), st.st_mode & 07777U};
    bytes b = v.durable.content == nullptr ? bytes{} : *v.durable.content;
    b.resize(v.now.content->size());
    const uint64_t first = m.offset + (std::max(begin, m.begin) - m.begin);
    const uint64_t last =
        std::min<uint64_t>(m.offset + (std::min(begin + n, m.end) - m.begin), b.size());
    for (uint64_t i = first; i < last; ++i) b[i] = (*v.now.content)[i];
    v.durable = {kept(std::move(b)), v.durable.content == nullptr ? v.now.mode : v.durable.mode};
    return false;
  });
}

namespace {

template <typename Fn>
void in_folder(Fn&& fn) noexcept {
  if (current_folder == nullptr || inside) return;
  const looking now;
  try {
    fn(*current_folder.load());
  } catch (const std::exception& e) {
    ADD_FAILURE() << "the folder under the test: " << e.what();
  }
}

}  // namespace

void lossy_folder::before(const char* call) noexcept {
  in_folder([&](lossy_folder& f) {
    const std::lock_guard hold(f.mutex_);
    f.moment(call, false);
  });
}
void lossy_folder::synced(int fd) noexcept {
  in_folder([&](lossy_folder& f) {
    const std::lock_guard hold(f.mutex_);
    f.note_sync(fd);
  });
}
void lossy_folder::synced(const void* at, size_t n) noexcept {
  in_folder([&](lossy_folder& f) {
    const std::lock_guard hold(f.mutex_);
    f.note_sync(at, n);
  });
}

}  // namespace scute::test
