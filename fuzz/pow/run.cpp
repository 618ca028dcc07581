// SPDX-License-Identifier: BSD-3-Clause
#include "run.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>

#include "codec/checksum/crc32c.hpp"
#include "core/log/segment.hpp"
#include "store_image.hpp"

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

class one_run {
 public:
  explicit one_run(std::span<const uint8_t> input) : in_(input) {}

  void go() {
    const auto& images = store_images();
    image_ = &images[byte(0) % images.size()];
    content_ = image_->content;
    for (size_t at = 4; at < in_.size() && at < 4 + 8 * size_t{24}; at += 8) apply(read(at));
    // Read only, then as a program that wants all or nothing, then with what is left.
    session(true, true);
    std::set<uint64_t> first;
    if (!session(false, false)) session(false, true);
    // The accepted objects are present, and stay.
    content_.assign(memory_.base(), memory_.base() + memory_.size());
    first_open_ = false;
    session(true, false);
    session(false, false);
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

  // 0: a head page   1: head of a segment   2, 3: head of a frame   4: body of a frame
  // 5: anywhere   6: a page   7: size
  void apply(const change& c) {
    const uint64_t segments = (image_->content.size() - pow::first_segment) / image_->segment_size;
    const uint64_t segment = pow::first_segment + c.which % segments * image_->segment_size;
    const log::segment_layout layout(image_->protect == pow::protection::always
                                         ? log::redundancy::tracks
                                         : log::redundancy::one_copy,
                                     image_->segment_size, true);
    plain_ = plain_ && !c.reseal;
    switch (c.where) {
      case 0: {
        const uint64_t page = c.which % pow::head_copies * pow::head_page;
        if (content_.size() < page + pow::head_page) return;
        alter(page + c.offset % 512, c);
        if (!c.reseal) return;
        auto h = std::make_unique<pow::file_head>();
        std::memcpy(h.get(), content_.data() + page, sizeof *h);
        h->checksum = pow::head_checksum(*h);
        std::memcpy(content_.data() + page, h.get(), sizeof *h);
        return;
      }
      case 1: {
        if (content_.size() < segment + 64) return;
        alter(segment + c.offset % 64, c);
        if (!c.reseal) return;
        format::segment_head h;
        std::memcpy(&h, content_.data() + segment, sizeof h);
        h.checksum = log::segment_head_checksum(h);
        std::memcpy(content_.data() + segment, &h, sizeof h);
        return;
      }
      case 2:
      case 3:
      case 4: {
        uint64_t position = (1 + c.offset % 40) * layout.step();
        if (c.where == 3 && c.offset % 8 == 0) position = layout.lines();  // where frames end
        if (position > layout.lines()) return;
        const uint64_t at = segment + layout.offset_of(position);
        if (content_.size() < at + 64) return;
        alter(at + (c.where == 4 ? 32 + c.offset / 64 % 32 : c.offset / 64 % 32), c);
        if (!c.reseal) return;
        format::segment_head s;
        if (position == layout.lines()) {
          format::segment_end e;
          std::memcpy(&s, content_.data() + segment, sizeof s);
          std::memcpy(&e, content_.data() + at, sizeof e);
          e.checksum = log::segment_end_checksum(log::seed_of(s), e);
          std::memcpy(content_.data() + at, &e, sizeof e);
          return;
        }
        format::frame_head f;
        std::memcpy(&s, content_.data() + segment, sizeof s);
        std::memcpy(&f, content_.data() + at, sizeof f);
        if (layout.how() == log::redundancy::one_copy && f.size >= sizeof f &&
            f.size <= content_.size() - at)
          f.body_checksum = codec::crc32c(0, content_.data() + at + sizeof f, f.size - sizeof f);
        f.checksum = log::frame_head_checksum(log::seed_of(s), position, f);
        std::memcpy(content_.data() + at, &f, sizeof f);
        return;
      }
      case 5: alter((uint64_t{c.which} << 16 | c.offset) % content_.size(), c); return;
      case 6: {
        const uint64_t page = c.offset % (content_.size() / 4096 + 1) * 4096;
        for (uint64_t i = page; i < page + 4096; i += 8) alter(i, c);
        return;
      }
      default:
        if (c.how != 0) return;
        content_.resize(content_.size() - std::min<uint64_t>(content_.size() - 1, c.offset));
        damaged_.insert(UINT64_MAX);
    }
  }

  void alter(uint64_t at, const change& c) {
    const size_t n = size_t{1} << (c.how & 3);
    if (at + n > content_.size()) return;
    uint64_t x = 0, v = c.value * 0x9e3779b97f4a7c15ULL;
    std::memcpy(&x, content_.data() + at, n);
    switch (c.how >> 2) {
      case 0: x = c.value; break;
      case 1: x ^= v; break;
      case 2: x += c.value; break;
      default: x ^= uint64_t{1} << c.value % (8 * n); break;
    }
    if (std::memcmp(content_.data() + at, &x, n) != 0) {
      damaged_.insert(at / 4096);
      damaged_.insert((at + n - 1) / 4096);
    }
    std::memcpy(content_.data() + at, &x, n);
  }

  // Damage that the file has to survive: a page of each segment, two head pages.
  bool survivable() const {
    if (!plain_ || image_->protect != pow::protection::always) return damaged_.empty();
    std::set<uint64_t> segments;
    int heads = 0;
    for (const uint64_t p : damaged_) {
      if (p == UINT64_MAX) return false;
      if (p < pow::head_copies) {
        ++heads;
        continue;
      }
      if (p * 4096 < pow::first_segment) continue;
      if (!segments.insert((p * 4096 - pow::first_segment) / image_->segment_size).second)
        return false;
    }
    return heads < 3;
  }

  // True if it was opened.
  bool session(bool read_only, bool salvage) {
    memory_.load(content_);
    texts t;
    std::unique_ptr<pow::store> s;
    try {
      s = pow::store::open(memory_.medium(read_only), "file", memory_.size(),
                           options_for(*image_, salvage));
      pow::table& of = s->attach("texts", 7, 0, true, t);
      if (planted_lie && !t.all.empty()) t.all.begin()->second += "!";
      verify(t, *s);
      // A file that was closed has nothing torn: without a word of it nothing is missing (POW-12).
      if (!salvage && first_open_ && plain_ && image_->closed && !damaged_.contains(UINT64_MAX) &&
          t.all != image_->there)
        breach("something is missing, and it was not reported");
      static_cast<void>(s->check(false, false));
      if (!read_only) work(*s, t, of);
      return true;
    } catch (const failure& f) {
      switch (f.code()) {
        case SCUTE_E_FORMAT:
        case SCUTE_E_VERSION:
        case SCUTE_E_TRUNCATED:
        case SCUTE_E_CORRUPT:
        case SCUTE_E_TYPE:
        case SCUTE_E_READONLY:
        case SCUTE_E_UNSUPPORTED:
        case SCUTE_E_NOSPC: break;
        default: breach("opening fails with " + std::to_string(f.code()) + ": " + f.what());
      }
      if (first_open_ && survivable())
        breach(std::string("damage within the redundancy is refused: ") + f.what());
      return false;
    }
  }

  void verify(const texts& t, pow::store& s) const {
    if (!first_open_) return;
    if (survivable()) {
      if (t.all != image_->there) breach("damage within the redundancy has changed objects");
      return;
    }
    if (!plain_) return;
    for (const auto& [index, text] : t.all) {
      const auto known = image_->ever.find(index);
      if (known == image_->ever.end() || !known->second.contains(text))
        breach("object " + std::to_string(index) + " has bytes that it never had");
    }
    // (An object may be older than its committed version only where the library reports a loss, or
    // where the end of the log is missing.)
    static_cast<void>(s);
  }

  // All that a program does.
  void work(pow::store& s, texts& t, pow::table& of) {
    try {
      for (uint64_t i = 0; i < 4; ++i) {
        const uint64_t index = (byte(2) + i * 3) % 24;
        pow::section x(s.parts(), i % 2 == 0 ? pow::durability::strict : pow::durability::later);
        const bool there = t.all.contains(index);
        if (there && i == 3) {
          x.erase(of, index, pow::section::any_tag);
          t.all.erase(index);
        } else {
          if (there)
            x.edit(of, index, pow::section::any_tag);
          else
            x.insert(of, index);
          t.all[index] = std::string(50 * i + 1, 'w');
        }
        x.commit();
      }
      s.sync();
      s.clean(3);
      if (byte(3) % 4 == 0) s.compact({});
      for (const auto& d : s.check(byte(3) % 2 == 0, true).changed) breach(d.text);
      if (byte(3) % 3 != 0) s.close();
    } catch (const failure& f) {
      if (f.code() != SCUTE_E_NOSPC && f.code() != SCUTE_E_CORRUPT && f.code() != SCUTE_E_EXISTS &&
          f.code() != SCUTE_E_RANGE)
        breach("a store that was opened fails with " + std::to_string(f.code()) + ": " + f.what());
    }
  }

  std::span<const uint8_t> in_;
  const store_image* image_ = nullptr;
  std::vector<std::byte> content_;
  std::set<uint64_t> damaged_;  // pages; UINT64_MAX: the file is shorter
  bool plain_ = true, first_open_ = true;
  store_memory memory_;
};

}  // namespace

void run_store(std::span<const uint8_t> input) {
  pow::prefer_slot(1);
  one_run(input).go();
}

}  // namespace scute::fuzz
