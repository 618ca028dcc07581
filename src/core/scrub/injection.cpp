// SPDX-License-Identifier: BSD-3-Clause
#include "core/scrub/injection.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <string>

#include "base/rounding.hpp"
#include "core/heap/regions.hpp"
#include "core/repair/page_repair.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/pool/foreign_parts.hpp"

namespace scute::core::scrub {
namespace {

// The finaliser of SplitMix64 (INJECT-1).
constexpr uint64_t mix(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class random_numbers {
 public:
  explicit random_numbers(uint64_t seed) noexcept : state_(mix(seed)) {}
  uint64_t word() noexcept { return mix(state_ += 0x9e3779b97f4a7c15u); }
  // Uniform, except for n in 2^64.
  uint64_t below(uint64_t n) noexcept { return word() % n; }
  // In (0, 1].
  double unit() noexcept { return static_cast<double>((word() >> 11) + 1) * 0x1p-53; }

 private:
  uint64_t state_;
};

// How many of the n bytes at offset are in a file (INJECT-6).
uint64_t in_a_file(const pool::state& s, uint64_t offset, uint64_t n) {
  if (!s.foreign || offset < s.geo.zones_offset || offset >= s.geo.zones_end()) return n;
  const pool::foreign_parts p = pool::foreign_parts_of(s, pool::zone_of(s.geo, offset));
  if (offset >= p.memory_end || offset + n <= p.payload_end || p.memory_end == p.payload_end)
    return n;
  return p.payload_end - std::min(offset, p.payload_end);
}

// The places where injuries of a kind may begin: the bits of a region, numbered consecutively.
class target {
 public:
  target(const pool::state& s, heap::zone_table& zones, repair::page_repairer& pages,
         tx::engine& engine, const scute_injection& what) {
    const auto add = [this](uint64_t begin, uint64_t end) {
      if (begin >= end) return;
      extents_.push_back({begin, end - begin, bytes_});
      bytes_ += end - begin;
    };
    // INJECT-5
    if (what.region == SCUTE_REGION_LOG)
      engine.for_each_live_log([&](uint64_t offset, uint64_t length) {
        present_ = true;
        add(offset, offset + length);
      });
    if (present_) return;
    for (const heap::region_range& e : heap::map_regions(s, zones)) {
      if (what.region != SCUTE_REGION_ANY && what.region != e.region) continue;
      uint64_t begin = e.offset;
      const uint64_t end = e.offset + e.length;
      // INJECT-6: such bytes are at the beginning of a larger region, of kind free.
      if (e.region == SCUTE_REGION_FREE && in_a_file(s, begin, 1) == 0)
        begin = std::min(end, round_up(begin, format::page));
      present_ = true;
      if (what.kind != SCUTE_INJURE_LOSE_PAGE || s.has_parity ||
          (e.region == SCUTE_REGION_LOG && pages.is_log_page(e.offset))) {
        add(begin, end);
      } else {  // INJECT-4
        add(begin, std::min(end, s.geo.zones_offset));
        add(std::max(begin, s.geo.zones_end()), end);
      }
    }
  }

  struct place {
    uint64_t offset;
    unsigned bit;
    uint64_t begin, end;  // of the extent
  };
  place at(uint64_t bit) const noexcept {
    const auto next = std::upper_bound(extents_.begin(), extents_.end(), bit / 8,
                                       [](uint64_t b, const part& p) { return b < p.before; });
    const part& p = *std::prev(next);
    return {p.offset + (bit / 8 - p.before), static_cast<unsigned>(bit % 8), p.offset,
            p.offset + p.length};
  }
  bool present() const noexcept { return present_; }
  uint64_t bits() const noexcept { return bytes_ * 8; }

 private:
  struct part {
    uint64_t offset, length, before;
  };
  std::vector<part> extents_;
  uint64_t bytes_ = 0;
  bool present_ = false;
};

class injector {
 public:
  injector(pool::state& s, repair::page_repairer& pages, const scute_injection& what,
           const std::function<void(uint64_t, uint64_t)>& visit)
      : s_(s), pages_(pages), what_(what), visit_(visit), w_(*s.medium) {}

  // Returns false if this place was injured already. A crash and an injury are two failures, so a
  // drill of one waits until the columns have recovered from the other. An exception is engine
  // logfree, whose resolution has to distinguish them.
  bool injure(const target::place& p) {
    const uint64_t n =
        what_.kind == SCUTE_INJURE_SCRIBBLE ? what_.length + format::page : format::page;
    const uint64_t from = std::max(p.offset - std::min(p.offset, n), s_.geo.zones_offset);
    const uint64_t to = std::min(p.offset + n, s_.geo.zones_end());
    if (s_.resolving->pending() && !s_.parity_is_log && s_.has_parity && from < to)
      s_.resolving->before_write(from, to - from);
    switch (what_.kind) {
      case SCUTE_INJURE_LOSE_PAGE: return lose(round_down(p.offset, format::page));
      case SCUTE_INJURE_FLIP: return flip(p);
      case SCUTE_INJURE_SCRIBBLE: return scribble(p);
    }
    return false;
  }
  void finish() {
    if (flushed_) w_.fence(fence_site::injure);
  }
  uint64_t done() const noexcept { return done_; }

 private:
  bool record(uint64_t offset, uint64_t length) {
    ++done_;
    if (visit_) visit_(offset, length);
    return true;
  }
  // With a page cache nothing needs to be done to make the damage last.
  void flush(const std::byte* p, uint64_t n) {
    if (s_.medium->what() != medium::kind::dax) return;
    w_.flush(p, n, medium::purpose::data);
    flushed_ = true;
  }

  bool flip(const target::place& p) {
    const uint64_t width = what_.bits / 8;  // 0: one bit
    const uint64_t offset = width == 0 ? p.offset : p.offset / width * width;
    if (!seen_.insert(offset * 8 + (width == 0 ? p.bit : 0)).second) return false;
    const uint64_t in_word = offset % 8 * 8;
    const uint64_t n = in_a_file(s_, offset, std::max<uint64_t>(width, 1));
    const uint64_t ones = width == 0 ? uint64_t{1} << p.bit
                          : n == 8   ? ~uint64_t{0}
                                     : (uint64_t{1} << n * 8) - 1;
    auto* word = reinterpret_cast<uint64_t*>(s_.at(offset / 8 * 8));
    {
      const pool::writes_under_optimistic_reads mark;
      __atomic_fetch_xor(word, ones << in_word, __ATOMIC_RELAXED);  // INJECT-2
    }
    flush(s_.at(offset), n);
    return record(offset, n);
  }

  bool scribble(const target::place& p) {
    uint64_t n = what_.length;
    // Inside of the region if that is long enough from here; otherwise from its beginning on.
    uint64_t offset = p.offset;
    if (offset + n > p.end) offset = p.end - p.begin >= n ? p.end - n : p.begin;
    offset = std::min(offset, s_.geo.file_size - n);
    n = in_a_file(s_, offset, n);
    if (n == 0 || !seen_.insert(offset).second) return false;
    std::byte noise[format::page];
    for (uint64_t at = offset, end = offset + n; at < end;) {
      const uint64_t part = std::min<uint64_t>(end - at, sizeof noise);
      make_noise(noise, at);
      for (uint64_t i = 0; i < part; ++i)  // INJECT-7
        if (noise[i] == s_.at(at)[i]) noise[i] = ~noise[i];
      {
        const pool::writes_under_optimistic_reads mark;
        std::memcpy(s_.at(at), noise, part);
      }
      flush(s_.at(at), part);
      at += part;
    }
    return record(offset, n);
  }

  bool lose(uint64_t page) {
    if (!seen_.insert(page).second) return false;
    std::byte noise[format::page];
    make_noise(noise, page);
    pages_.lose(page, noise);
    return record(page, in_a_file(s_, page, format::page));
  }

  void make_noise(std::byte (&to)[format::page], uint64_t offset) const noexcept {
    for (uint64_t i = 0; i < sizeof to; i += 8) {
      const uint64_t word = mix(what_.seed ^ mix(offset + i));
      std::memcpy(to + i, &word, sizeof word);
    }
  }

  pool::state& s_;
  repair::page_repairer& pages_;
  const scute_injection& what_;
  const std::function<void(uint64_t, uint64_t)>& visit_;
  medium::writer w_;
  bool flushed_ = false;
  std::set<uint64_t> seen_;
  uint64_t done_ = 0;
};

[[noreturn]] void refuse_page(const pool::state& s) {
  throw failure(SCUTE_E_UNSUPPORTED,
                s.path +
                    " has no parity (protection below mlp), so a page of its zones could not be "
                    "rebuilt; only pages of superblocks and lanes can be lost in a drill");
}

}  // namespace

void require_sensible(const pool::state& s, const scute_injection& what) {
  const auto refuse = [](const char* why) { throw failure(SCUTE_E_INVALID, why); };
  if (what.kind < SCUTE_INJURE_LOSE_PAGE || what.kind > SCUTE_INJURE_SCRIBBLE)
    refuse("injection->kind must be lose page, flip or scribble");
  if (what.region < SCUTE_REGION_ANY || what.region > SCUTE_REGION_NOTES)
    refuse("injection->region must be a value of enum scute_region");
  if (what.kind == SCUTE_INJURE_FLIP && what.bits != 1 && what.bits != 8 && what.bits != 16 &&
      what.bits != 32 && what.bits != 64)
    refuse("injection->bits must be 1, 8, 16, 32 or 64");
  if (what.kind == SCUTE_INJURE_SCRIBBLE && what.length == 0)
    refuse("injection->length must be 1 or more bytes");
  if (what.count == 0 && !(what.rate >= 0 && what.rate <= 1))
    refuse("injection->rate must be between 0 and 1");
  const uint64_t n = what.kind == SCUTE_INJURE_SCRIBBLE ? what.length : 1;
  if (n > s.geo.file_size) throw failure(SCUTE_E_RANGE, "the scribble is longer than the pool");
  if (what.offset == SCUTE_ANYWHERE) return;
  if (what.count != 1) refuse("with an offset, injection->count must be 1");
  if (what.offset > s.geo.file_size - n)
    throw failure(SCUTE_E_RANGE, "the injury would lie beyond the pool's " +
                                     std::to_string(s.geo.file_size) + " bytes");
}

uint64_t inject(pool::state& s, heap::zone_table& zones, repair::page_repairer& pages,
                tx::engine& engine, const scute_injection& what,
                const std::function<void(uint64_t offset, uint64_t length)>& visit) {
  require_sensible(s, what);
  if (s.read_only)
    throw failure(SCUTE_E_READONLY, s.path + " was opened read-only, so nothing can be injured");
  random_numbers random(what.seed);
  injector in(s, pages, what, visit);
  if (what.offset != SCUTE_ANYWHERE) {
    if (what.kind != SCUTE_INJURE_LOSE_PAGE && in_a_file(s, what.offset, 1) == 0)
      throw failure(SCUTE_E_RANGE,
                    "offset " + std::to_string(what.offset) + " of " + s.path +
                        " lies beyond the end of " + s.user->path() +
                        ", in the unused rest of its last page; choose another offset");
    if (what.kind == SCUTE_INJURE_LOSE_PAGE && !s.has_parity && what.offset >= s.geo.zones_offset &&
        what.offset < s.geo.zones_end() &&
        !pages.is_log_page(round_down(what.offset, format::page)))
      refuse_page(s);
    in.injure({what.offset, static_cast<unsigned>(random.below(8)), 0, s.geo.file_size});
    in.finish();
    return in.done();
  }
  const target where(s, zones, pages, engine, what);
  if (!where.present())
    throw failure(SCUTE_E_NOENT,
                  s.path + " has no byte in that region at present; choose another region");
  if (where.bits() == 0) refuse_page(s);
  if (what.count != 0) {
    // If the region has fewer places than requested, all of them are enough.
    uint64_t misses = 0;
    while (in.done() < what.count && misses < 1000)
      misses = in.injure(where.at(random.below(where.bits()))) ? 0 : misses + 1;
  } else if (what.rate > 0) {
    // INJECT-3, without testing every bit: the gaps between hits are geometrically distributed.
    const double scale = 1 / std::log1p(-what.rate);
    for (uint64_t bit = 0; bit < where.bits(); ++bit) {
      const double gap = std::floor(std::log(random.unit()) * scale);
      if (gap >= static_cast<double>(where.bits() - bit)) break;
      bit += static_cast<uint64_t>(gap);
      in.injure(where.at(bit));
    }
  }
  in.finish();
  return in.done();
}

}  // namespace scute::core::scrub
