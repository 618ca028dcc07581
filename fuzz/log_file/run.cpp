// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <set>
#include <string>

#include "codec/checksum/crc32c.hpp"
#include "core/engine/speculative/recovery/truncation_point.hpp"
#include "core/log/segment.hpp"
#include "images.hpp"

namespace scute::fuzz {
namespace {

[[noreturn]] void breach(const std::string& what) {
  std::fprintf(stderr, "fuzz: %s\n", what.c_str());
  std::abort();
}

struct change {
  uint8_t where, how, which;
  bool reseal;
  uint16_t offset;
  uint32_t value;
};

// Records of these were followed by so many others that a crash cannot have torn them; those of the
// last ones it can (GAP-4).
constexpr size_t followed = log_objects - 3;

class one_run {
 public:
  explicit one_run(std::span<const uint8_t> input) : in_(input) {}

  void go() {
    const auto& images = log_images();
    image_ = &images[byte(0) % images.size()];
    log_ = image_->log;
    choose();
    for (size_t at = 4; at < in_.size() && at < 4 + 8 * size_t{24} && is_own_; at += 8)
      apply(read(at));
    session(true);
    if (session(false)) again();
  }

 private:
  uint8_t byte(size_t i) const { return i < in_.size() ? in_[i] : 0; }
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

  // Chooses the log next to the pool: most often its own.
  void choose() {
    const uint8_t choice = byte(1) & 15;
    if (choice == 1) {
      is_there_ = is_own_ = false;
    } else if (choice == 2 && !image_->middle.empty()) {
      log_ = image_->middle;
      is_own_ = false;
    } else if (choice == 3) {
      log_ = image_->others[byte(1) / 16 % image_->others.size()].second;
      is_own_ = false;
    }
  }

  // ---- changes ----------------------------------------------------------------------------------

  uint64_t per_chunk() const { return image_->chunk_size / image_->segment_size; }
  // The offset of a segment, by number: of two copies one after the other, chunk by chunk.
  uint64_t segment_at(uint64_t i) const {
    const uint64_t chunk = i / per_chunk();
    return format::log_file_chunks_offset + chunk * image_->chunk_size +
           i % per_chunk() * image_->segment_size;
  }
  uint64_t segments() const {
    return (image_->log.size() - format::log_file_chunks_offset) / image_->segment_size;
  }

  // 0: a head   1: the truncation point   2: head of a segment   3: head of a frame   4: its body
  // 5: anywhere   6: a page   7: size
  void apply(const change& c) {
    plain_ = plain_ && !c.reseal;
    const uint64_t segment = segment_at(c.which % segments());
    switch (c.where) {
      case 0: {
        const uint64_t at = c.which % 2 * format::page;
        if (!alter(at + c.offset % sizeof(format::log_file_head), c) || !c.reseal) return;
        format::log_file_head h;
        if (!take(at, h)) return;
        constexpr size_t before = offsetof(format::log_file_head, version);
        h.checksum =
            codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + before, sizeof h - before);
        put(at, h);
        return;
      }
      case 1: {
        const uint64_t at =
            format::log_file_truncation_offset + c.which % 2 * format::page + c.which / 2 % 2 * 64;
        if (!alter(at + c.offset % 16, c) || !c.reseal) return;
        uint64_t words[2];
        if (!take(at, words)) return;
        const uint64_t message[2] = {image_->salt, words[0]};
        words[1] = (words[1] & ~uint64_t{UINT32_MAX}) | codec::crc32c(0, message, sizeof message);
        put(at, words);
        return;
      }
      case 2: {
        if (!alter(segment + c.offset % 64, c) || !c.reseal) return;
        format::segment_head h;
        if (!take(segment, h)) return;
        h.checksum = log::segment_head_checksum(h);
        put(segment, h);
        return;
      }
      case 3:
      case 4: {
        const uint64_t position = 1 + c.offset % (image_->segment_size / log::line_size - 1);
        const uint64_t at = segment + position * log::line_size;
        const uint64_t in = c.where == 3 ? c.value / 64 % sizeof(format::frame_head)
                                         : sizeof(format::frame_head) + c.value / 64 % 32;
        if (!alter(at + in, c) || !c.reseal) return;
        format::segment_head s;
        format::frame_head f;
        if (!take(segment, s) || !take(at, f)) return;
        if (f.size >= sizeof f && f.size <= log_.size() - at)
          f.body_checksum = codec::crc32c(0, log_.data() + at + sizeof f, f.size - sizeof f);
        f.checksum = log::frame_head_checksum(log::seed_of(s), position, f);
        put(at, f);
        return;
      }
      case 5: alter((uint64_t{c.which} << 16 | c.offset) % log_.size(), c); return;
      case 6: {
        const uint64_t page = c.offset % (log_.size() / format::page + 1) * format::page;
        for (uint64_t i = page; i < page + format::page; i += 8) alter(i, c);
        return;
      }
      default:
        if (c.how > 1) return;
        if (c.how == 0) log_.resize(log_.size() - std::min<uint64_t>(log_.size() - 1, c.offset));
        if (c.how == 1) log_.resize(log_.size() + c.offset);
        is_cut_ = is_cut_ || log_.size() < image_->log.size();
    }
  }
  template <typename T>
  bool take(uint64_t at, T& t) const {
    if (at + sizeof t > log_.size()) return false;
    std::memcpy(&t, log_.data() + at, sizeof t);
    return true;
  }
  template <typename T>
  void put(uint64_t at, const T& t) {
    std::memcpy(log_.data() + at, &t, sizeof t);
  }
  bool alter(uint64_t at, const change& c) {
    const size_t n = size_t{1} << (c.how & 3);
    if (at + n > log_.size()) return false;
    uint64_t x = 0, v = c.value * 0x9e3779b97f4a7c15ULL;
    std::memcpy(&x, log_.data() + at, n);
    switch (c.how >> 2) {
      case 0: x = c.value; break;
      case 1: x ^= v; break;
      case 2: x += c.value; break;
      default: x ^= uint64_t{1} << c.value % (8 * n); break;
    }
    if (std::memcmp(log_.data() + at, &x, n) != 0)
      for (const uint64_t byte : {at, at + n - 1}) harmed_.insert(byte);
    std::memcpy(log_.data() + at, &x, n);
    return true;
  }

  // The redundancy of the log covers it: one of two heads, one copy of the truncation point, and of
  // each segment one copy.
  bool is_covered() const {
    if (!plain_ || is_cut_) return false;
    bool heads[2]{}, truncation_points[2]{};
    std::set<uint64_t> copies;
    for (const uint64_t at : harmed_) {
      if (at < 2 * format::page)
        heads[at / format::page] = true;
      else if (at < format::log_file_chunks_offset)
        truncation_points[at / format::page - 2] = true;
      else if (image_->two_copies)
        copies.insert((at - format::log_file_chunks_offset) / image_->segment_size);
      else
        return false;
    }
    if ((heads[0] && heads[1]) || (truncation_points[0] && truncation_points[1])) return false;
    return std::ranges::none_of(copies, [&](uint64_t i) {
      return i / per_chunk() % 2 == 0 && copies.contains(i + per_chunk());
    });
  }
  // Nothing of the log is needed.
  bool is_void() const { return image_->clean; }

  // ---- sessions ---------------------------------------------------------------------------------

  // True if it was opened, and is to be opened again: what was committed is in file_ and folder_
  // then.
  bool session(bool read_only) {
    file_.load(image_->pool);
    folder_ = {};
    if (is_there_) folder_.put(log_);
    std::optional<log_pool> p;
    try {
      p.emplace(file_, folder_, nullptr, read_only);
    } catch (const failure& f) {
      refused(f, read_only);
      return false;
    }
    if (!is_own_ && !is_void())
      breach("an unclean pool was opened with a log that is not its own, or with none");
    verify(*p);
    if (read_only) return false;
    return work(*p);
  }

  void refused(const failure& f, bool read_only) {
    switch (f.code()) {
      case SCUTE_E_VERSION:
      case SCUTE_E_TRUNCATED:
      case SCUTE_E_CORRUPT:
      case SCUTE_E_NOSPC: break;
      case SCUTE_E_READONLY:
        if (read_only) return;
        [[fallthrough]];
      default: breach("opening fails with " + std::to_string(f.code()) + ": " + f.what());
    }
    if (plain_ && is_void())
      breach(std::string("a pool that needs no log is refused: ") + f.what());
    if (is_own_ && is_covered())
      breach(std::string("damage within the redundancy is refused: ") + f.what());
    if (!is_own_ && file_.content() != image_->pool)
      breach("a pool was refused for its log, and changed");
  }

  void verify(const log_pool& p) {
    const std::vector<uint64_t> oids = objects_of(p.handle());
    const bool safe = is_void() || (is_own_ && is_covered());
    size_t stale = log_objects;  // the first one, of those that were followed
    uint64_t refusals = 0;
    for (size_t i = 0; i < log_objects; ++i) {
      const void* at = nullptr;
      const int e =
          oids[i] == SCUTE_OID_NULL ? SCUTE_E_NOENT : scute_get_verified(p.handle(), oids[i], &at);
      const uint64_t version = e == SCUTE_OK ? version_of(i, at) : 0;
      if (version == newest_version && !(planted_lie && i == 0)) continue;
      const std::string what = "object " + std::to_string(i) + " is of version " +
                               std::to_string(version) + " (" + std::to_string(e) + ")";
      if (safe && plain_) breach("nothing that counts is missing, but " + what);
      if (!plain_) continue;
      refusals += e != SCUTE_OK ? 1 : 0;
      // An undo record that is gone leaves a range as it was stored to, and no checksum says so.
      const bool in_place = i == 4 && !image_->checked;
      if (e == SCUTE_OK && version == 0 && !in_place) breach(what + ", which it never had");
      if (e != SCUTE_OK && e != SCUTE_E_CORRUPT) breach(what);
      if (e == SCUTE_OK && i < followed) stale = std::min(stale, i);
    }
    scute_info info{};
    info.struct_size = sizeof info;
    if (scute_pool_info(p.handle(), &info) != SCUTE_OK) breach("no information");
    if (stale != log_objects && info.lost == 0)
      breach("object " + std::to_string(stale) + " is older than it was, and nothing says so");
    if (refusals != 0 && info.lost == 0 && image_->checked && safe)
      breach("objects are refused, and nothing is said to be lost");
  }

  // All that a program does; then it is killed. False if it cannot be verified.
  bool work(log_pool& p) {
    const std::vector<uint64_t> oids = objects_of(p.handle());
    if (std::ranges::find(oids, uint64_t{SCUTE_OID_NULL}) != oids.end()) return false;
    written_ = 1 + byte(2) % log_objects;
    try {
      // The other way round: what an older log says of an object has another place in its order.
      for (size_t i = log_objects; i-- != log_objects - written_;)
        write_object(p.handle(), oids, i, newest_version + 1);
      if (byte(3) % 4 == 0) p.in().drain();
      if (byte(3) % 4 == 1) {
        p.close();
        return true;
      }
    } catch (const failure& f) {
      if (plain_ && (is_void() || is_covered()))
        breach("a pool that was opened fails with " + std::to_string(f.code()) + ": " + f.what());
      return false;
    }
    p.abandon();
    return true;
  }

  // The committed bytes are present, whatever the log had been before.
  void again() {
    try {
      log_pool p(file_, folder_, nullptr);
      const std::vector<uint64_t> oids = objects_of(p.handle());
      for (size_t i = 0; i < log_objects; ++i) {
        const void* at = nullptr;
        const int e = oids[i] == SCUTE_OID_NULL ? SCUTE_E_NOENT
                                                : scute_get_verified(p.handle(), oids[i], &at);
        if (i < log_objects - written_) continue;
        if (plain_ && (e != SCUTE_OK || version_of(i, at) != newest_version + 1))
          breach("object " + std::to_string(i) + " is not what was committed last (" +
                 std::to_string(e) + ")");
      }
    } catch (const failure& f) {
      if (plain_)
        breach("a pool that was worked with cannot be opened: " + std::to_string(f.code()) + ": " +
               f.what());
    }
  }

  std::span<const uint8_t> in_;
  const log_image* image_ = nullptr;
  bytes log_;
  std::set<uint64_t> harmed_;  // bytes
  bool plain_ = true, is_there_ = true, is_own_ = true, is_cut_ = false;
  size_t written_ = 0;  // objects, from the last one on, that a session has written
  ram_file file_;
  log_folder folder_;
};

}  // namespace

void run_log_file(std::span<const uint8_t> input) {
  one_run(input).go();
}

}  // namespace scute::fuzz
