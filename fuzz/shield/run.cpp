// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <set>

#include "core/layout/format.hpp"
#include "core/shared/pool/superblock.hpp"
#include "scute/scute.h"
#include "shielded_image.hpp"

namespace scute::fuzz {
namespace {

namespace format = core::format;

constexpr uint64_t page = 4096;

[[noreturn]] void breach(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s (%s)\n", what.c_str(), scute_errormsg());
  std::abort();
}

// The errors that scute_shield_open() and its like may return for the damage to the files.
bool is_documented(int e) {
  constexpr int all[] = {SCUTE_E_FORMAT,  SCUTE_E_VERSION,     SCUTE_E_TRUNCATED, SCUTE_E_CORRUPT,
                         SCUTE_E_CHANGED, SCUTE_E_UNSUPPORTED, SCUTE_E_NOSPC};
  return std::find(std::begin(all), std::end(all), e) != std::end(all);
}
void need_documented(const char* call, int e, std::initializer_list<int> more = {}) {
  if (e == SCUTE_OK || is_documented(e) || std::find(more.begin(), more.end(), e) != more.end())
    return;
  breach(std::string(call) + " fails with " + scute_errorname(e));
}

struct change {
  uint8_t where, how, which;
  bool reseal;
  uint16_t offset;
  uint32_t value;
};

class one_run {
 public:
  explicit one_run(std::span<const uint8_t> input)
      : in_(input), image_(shielded_images()[byte(0) % shielded_images().size()]) {}

  void go() {
    file_ = image_.file;
    sidecar_ = image_.sidecar;
    for (size_t at = 4; at < in_.size() && at < 4 + 8 * size_t{16}; at += 8) apply(read(at));
    write_all(path(), file_);
    if (flag(unnoticed)) agree();
    write_all(path() + ".scute", sidecar_);
    look();
    if (!flag(without_opening)) {
      session(SCUTE_READONLY);
      session(flag(as_damage) ? uint32_t{SCUTE_DAMAGED} : 0U);
    }
    if (byte(2) % 2 == 0)
      adopt();
    else
      remove();
  }

 private:
  const std::string& path() const { return image_.path; }
  uint8_t byte(size_t i) const { return i < in_.size() ? in_[i] : 0; }
  bool flag(run_flags f) const { return (byte(1) & f) != 0; }
  change read(size_t at) const {
    change c{};
    c.where = byte(at) & 7;
    c.reseal = (byte(at) & 8) != 0;
    c.how = byte(at) >> 4;
    c.which = byte(at + 1);
    c.offset = static_cast<uint16_t>(byte(at + 2) | byte(at + 3) << 8);
    for (int i = 3; i >= 0; --i) c.value = c.value << 8 | byte(at + 4 + static_cast<size_t>(i));
    return c;
  }

  uint64_t copy_at(uint64_t i) const {
    return i < 2 ? i * page : (sidecar_.size() / page - 1) * page;
  }

  // 0: a superblock copy   1, 2: the sidecar   3: a page of it   4: the file   5: a page of it
  // 6: the sidecar's size   7: the file's size, or a page of another sidecar
  void apply(const change& c) {
    switch (c.where) {
      case 0: {
        if (sidecar_.size() < 3 * page) return;
        const uint64_t at = copy_at(c.which % 3);
        alter(sidecar_, at + c.offset % sizeof(format::superblock), c);
        if (c.reseal) reseal(at);
        return;
      }
      case 1:
      case 2:
        alter(sidecar_,
              (uint64_t{c.which} << 16 | c.offset) % std::max<uint64_t>(sidecar_.size(), 1), c);
        return;
      case 3:
        for (uint64_t i = 0; i < page; i += 8)
          alter(sidecar_, c.offset % (sidecar_.size() / page + 1) * page + i, c);
        return;
      case 4: alter(file_, c.offset % std::max<uint64_t>(file_.size(), 1), c); return;
      case 5:
        for (uint64_t i = 0; i < page; i += 8)
          alter(file_, c.offset % (file_.size() / page + 1) * page + i, c);
        return;
      case 6: resize(sidecar_, c); return;
      default:
        if (c.how % 2 == 0) return resize(file_, c);
        const bytes& other = shielded_images()[c.which % shielded_images().size()].sidecar;
        const uint64_t at = c.offset % (sidecar_.size() / page + 1) * page;
        if (at + page > other.size() || at + page > sidecar_.size()) return;
        std::memcpy(sidecar_.data() + at, other.data() + at, page);
        foreign_page_ = true;
    }
  }

  void resize(bytes& b, const change& c) {
    if (c.how < 8)
      b.resize(b.size() - std::min<uint64_t>(b.size(), c.offset));
    else
      b.resize(b.size() + c.offset % 20'000, static_cast<std::byte>(c.value));
    damaged_ = true;
  }

  void alter(bytes& b, uint64_t at, const change& c) {
    const size_t n = size_t{1} << (c.how & 3);
    if (at + n > b.size()) return;
    uint64_t x = 0, v = c.value * 0x9e3779b97f4a7c15ULL;
    std::memcpy(&x, b.data() + at, n);
    const uint64_t before = x;
    switch (c.how >> 2) {
      case 0: x = c.value; break;
      case 1: x ^= v; break;
      case 2: x += c.value; break;
      default: x ^= uint64_t{1} << c.value % (8 * n); break;
    }
    std::memcpy(b.data() + at, &x, n);
    uint64_t now = 0;
    std::memcpy(&now, b.data() + at, n);
    damaged_ = damaged_ || now != before;
  }

  void reseal(uint64_t at) {
    format::superblock sb;
    std::memcpy(&sb, sidecar_.data() + at, sizeof sb);
    sb.checksum = core::pool::superblock_checksum(sb);
    std::memcpy(sidecar_.data() + at, &sb, sizeof sb);
    forged_ = true;
  }

  // Makes the sidecar agree with the file, as if no other program had touched the file.
  void agree() {
    struct stat st{};
    if (sidecar_.size() < 3 * page || ::stat(path().c_str(), &st) != 0) return;
    for (uint64_t i = 0; i < 3; ++i) {
      format::superblock sb;
      std::memcpy(&sb, sidecar_.data() + copy_at(i), sizeof sb);
      if (sb.checksum != core::pool::superblock_checksum(sb)) continue;
      const auto ns = [](const timespec& t) {
        return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(t.tv_nsec);
      };
      sb.foreign.inode = st.st_ino;
      sb.foreign.mtime_ns = ns(st.st_mtim);
      sb.foreign.ctime_ns = ns(st.st_ctim);
      sb.checksum = core::pool::superblock_checksum(sb);
      std::memcpy(sidecar_.data() + copy_at(i), &sb, sizeof sb);
    }
  }

  // All bytes that the library hands out as FILE's, FILE has had. After a kill and damage together
  // less is promised: recovery takes for right the data that it recomputes. Nothing is promised for
  // a forged superblock, or for pages of another pool.
  bool verified() const { return !forged_ && !foreign_page_ && (image_.clean || !damaged_); }

  void look() {
    scute_shield_condition c{};
    scute_shield_state s{};
    s.struct_size = sizeof s;
    const int e = scute_shield_look(path().c_str(), &c, &s);
    need_documented("scute_shield_look", e, {SCUTE_E_INVALID});
    if (read_all(path()) != file_ || read_all(path() + ".scute") != sidecar_)
      breach("a look has changed something");
    condition_ = e == SCUTE_OK ? c : scute_shield_condition{};
    looked_ = e;
  }

  void session(uint32_t flags) {
    scute_options o;
    scute_options_init(&o);
    o.flags = flags;
    scute_pool* pool = nullptr;
    const int e = scute_shield_open(path().c_str(), &o, &pool);
    need_documented("scute_shield_open", e, {SCUTE_E_INVALID});
    const bool writes = flags != SCUTE_READONLY;
    if (!writes || e == SCUTE_E_CHANGED)
      if (read_all(path()) != file_) breach("a file that was only read, or refused, has changed");
    if (e == SCUTE_OK && condition_ == SCUTE_SHIELD_CHANGED && (flags & SCUTE_DAMAGED) == 0)
      breach("it opens, and was said to be changed");
    if (e == SCUTE_E_CHANGED && condition_ == SCUTE_SHIELD_CLEAN)
      breach("it is refused as changed, and was said to be clean");
    if (e != SCUTE_OK && !damaged_ && !forged_ && !foreign_page_ && file_ == image_.recorded)
      breach("nothing has happened to it, and it does not open");
    if (e != SCUTE_OK) return;
    changes_ = changes_ || writes;
    verify(pool);
    if (flag(with_scrub) && writes) {
      scute_report r{};
      r.struct_size = sizeof r;
      need_documented("scute_scrub", scute_scrub(pool, nullptr, &r));
      verify(pool);
    }
    scute_report r{};
    r.struct_size = sizeof r;
    need_documented(
        "scute_check",
        scute_check(pool, flag(with_repair) && writes ? 1 : 0, &r, nullptr, nullptr, nullptr),
        {SCUTE_E_IO});
    verify(pool);
    if (writes) work(pool);
    verify(pool);
    need_documented("scute_close", scute_close(pool));
  }

  void verify(scute_pool* pool) {
    scute_shield_state s{};
    s.struct_size = sizeof s;
    if (scute_shield_info(pool, &s) != SCUTE_OK) breach("scute_shield_info fails");
    const bool compare_bytes = verified();
    bytes got(page);
    for (uint64_t at = 0; at < s.size && at < 4 * image_.file.size(); at += page) {
      const uint64_t n = std::min(page, s.size - at);
      const int e = scute_shield_read(pool, at, got.data(), n);
      if (planted_lie && e == SCUTE_OK && at == 0) got[7] ^= std::byte{1};
      if (e != SCUTE_OK && e != SCUTE_E_CORRUPT) breach("scute_shield_read fails otherwise");
      if (e != SCUTE_OK && !damaged_ && !forged_ && !foreign_page_ && file_ == image_.recorded)
        breach("bytes are lost that nothing has happened to");
      if (e != SCUTE_OK || !compare_bytes) continue;
      bytes wanted = image_.recorded;
      wanted.resize(std::max<uint64_t>(s.size, wanted.size()));
      if (written_) std::fill_n(wanted.begin() + work_at, work_size, work_byte);
      if (std::memcmp(got.data(), wanted.data() + at, n) != 0)
        breach("bytes at " + std::to_string(at) + " are handed out that the file never had");
    }
  }

  void work(scute_pool* pool) {
    const bytes more(work_size, work_byte);
    const scute_shield_change c{work_at, more.data(), more.size()};
    const int e = scute_shield_write(pool, &c, 1);
    need_documented("scute_shield_write", e, {SCUTE_E_RANGE});
    written_ = written_ || e == SCUTE_OK;
  }

  void adopt() {
    const bytes before = read_all(path());
    const int e = scute_shield_adopt(path().c_str(), nullptr, 0, 0);
    need_documented("scute_shield_adopt", e, {SCUTE_E_RANGE, SCUTE_E_EXISTS, SCUTE_E_INVALID});
    if (read_all(path()) != before) breach("adopt has changed the file");
    if (e != SCUTE_OK) {
      if (!forged_ && !before.empty() && is_foreign())
        breach("its protection is damaged, and it cannot be adopted");
      return;
    }
    scute_pool* pool = nullptr;
    if (scute_shield_open(path().c_str(), nullptr, &pool) != SCUTE_OK)
      breach("the adopted file does not open");
    bytes got(before.size());
    if (scute_shield_read(pool, 0, got.data(), got.size()) != SCUTE_OK || got != before)
      breach("the adopted content is not the file's");
    scute_report r{};
    r.struct_size = sizeof r;
    if (scute_check(pool, 0, &r, nullptr, nullptr, nullptr) != SCUTE_OK || r.damaged != 0)
      breach("the adopted file is damaged");
    if (scute_close(pool) != SCUTE_OK) breach("the adopted file cannot be closed");
  }

  // Some copy of the superblock is there: it is known for a sidecar.
  bool is_foreign() const {
    if (sidecar_.size() < 3 * page) return false;
    for (uint64_t i = 0; i < 2; ++i) {
      format::superblock sb;
      std::memcpy(&sb, sidecar_.data() + copy_at(i), sizeof sb);
      if (sb.checksum == core::pool::superblock_checksum(sb)) return true;
    }
    return false;
  }

  void remove() {
    const bytes before = read_all(path());
    const int e = scute_shield_remove(path().c_str(), nullptr);
    need_documented("scute_shield_remove", e, {SCUTE_E_INVALID, SCUTE_E_EXISTS});
    const bool gone = ::access((path() + ".scute").c_str(), F_OK) != 0;
    if (gone != (e == SCUTE_OK)) breach("remove says one thing and has done another");
    const bytes after = read_all(path());
    if (e == SCUTE_E_CHANGED && after != before) breach("a file that was refused has changed");
    if (e == SCUTE_OK && image_.clean && !changes_ && !flag(unnoticed) && after != before)
      breach("remove has changed a file that was closed properly");
    // Nothing has happened to it: it leaves the shield with all that was committed.
    bytes wanted = image_.recorded;
    if (written_) std::fill_n(wanted.begin() + work_at, work_size, work_byte);
    if (!damaged_ && !forged_ && !foreign_page_ && file_ == image_.recorded &&
        (e != SCUTE_OK || after != wanted))
      breach("the file has not left the shield with what was committed");
  }

  static constexpr uint64_t work_at = 20'000, work_size = 500;
  static constexpr std::byte work_byte{'w'};

  std::span<const uint8_t> in_;
  const shielded_image& image_;
  bytes file_, sidecar_;
  bool damaged_ = false;       // some byte is another one
  bool forged_ = false;        // a superblock says something else, with a good checksum
  bool foreign_page_ = false;  // a page of another sidecar
  bool changes_ = false, written_ = false;
  scute_shield_condition condition_{};
  int looked_ = SCUTE_OK;
};

}  // namespace

void run_shielded(std::span<const uint8_t> input) {
  one_run(input).go();
}

}  // namespace scute::fuzz
