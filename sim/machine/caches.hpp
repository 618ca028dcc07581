// SPDX-License-Identifier: BSD-3-Clause
// Translation buffers and caches: a first level for each core, a shared second one that has all
// that the first ones have, and MESI between the cores; on machines that have one, a third level
// with the lines that left the second. Tags only; the machine's user keeps the bytes.
//
// MESI-1 A line that one first-level cache has as modified or exclusive is in no other one.
// MESI-2 What a first-level cache has is in the second level, too.
// MESI-3 A page that the small translation buffer has is in the large one, too.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "machine/line_cache.hpp"
#include "machine/memory.hpp"
#include "machine/observer.hpp"
#include "machine/settings.hpp"
#include "machine/ticks.hpp"

namespace scute::sim {

class caches {
 public:
  caches(const settings& s, memory& m);

  struct result {
    ticks done;     // the bytes are there; for a store: the core owns the line
    l1_line* line;  // valid until the next access
  };
  // By a core, in one line. Addresses of a page that is not in its translation buffers cost a walk
  // first.
  result access(unsigned core, uint64_t address, bool store, ticks at) {
    core_part& c = cores_[core];
    if (c.is_in_last_page(address, memory_) || is_in_first_buffer(c, address)) {
      l1_line* const l = c.l1.use(line_of(address));
      if (l != nullptr && (!store || l->state != cache_state::shared)) {
        ++c.count.accesses;
        if (store) l->state = cache_state::modified;
        return {at + l1_time_ > l->ready ? at + l1_time_ : l->ready, l};
      }
    }
    return access_other(core, address, store, at);
  }

  // A store that goes by the caches: when it is known where to.
  ticks translated(unsigned core, uint64_t address, ticks at) {
    core_part& c = cores_[core];
    return c.is_in_last_page(address, memory_) || is_in_first_buffer(c, address)
               ? at
               : translate(core, address, at);
  }
  // The entry of the page, which the last access of that core has made present.
  tlb_page& page(unsigned core, uint64_t address);

  // Writes a line back where it is dirty, in whatever cache, and leaves it there clean, or with
  // `drop` nowhere. Returns when it is durable, or, if it was clean, when that is known. Until then
  // others may have to wait for the line.
  ticks write_back(unsigned core, uint64_t line, ticks at, bool drop = false);
  // Whether any of them has the line.
  bool have(uint64_t line) noexcept {
    return l2_.find(line) != nullptr || (l3_ && l3_->find(line) != nullptr);
  }
  // The time that a line takes from the caches to the memory's queue.
  ticks way_out() const noexcept { return way_out_; }

  line_cache<l1_line>& first(unsigned core) { return cores_[core].l1; }
  line_cache<tlb_page>& pages(unsigned core) { return cores_[core].tlb2; }

  struct counts {
    uint64_t accesses = 0, l1_misses = 0, l2_misses = 0, tlb1_misses = 0, tlb2_misses = 0;
    uint64_t taken = 0;  // from another core's first level
  };
  const counts& counted(unsigned core) const { return cores_[core].count; }

  observer* watch = nullptr;

  // Throws std::logic_error if MESI-1 to MESI-3 do not hold.
  void verify();

 private:
  struct l2_line {
    uint64_t key;
    ticks ready;
    ticks written;
    uint8_t holders;  // a bit per core that may have it
    bool dirty;
  };
  struct tag {
    uint64_t key;
  };
  // Lines of a page that are asked for one after the other.
  struct ascent {
    uint64_t last = 0, ahead = 0;  // lines: asked for; fetched
    unsigned steps = 0;
  };
  struct core_part {
    explicit core_part(const settings& s);
    line_cache<l1_line> l1;
    line_cache<tag> tlb1;
    line_cache<tlb_page> tlb2;
    uint64_t last_page = UINT64_MAX;
    // The 4 KiB of it that were used last, as long as nothing else has become persistent.
    uint64_t last_small = UINT64_MAX;
    unsigned changes = 0;
    bool is_in_last_page(uint64_t address, const memory& m) const noexcept {
      return address / page_bytes == last_small && changes == m.changes();
    }
    std::vector<ticks> fills;  // when each buffer is free
    size_t next_fill = 0;
    std::array<ascent, 16> ascents{};
    size_t next_ascent = 0;
    counts count;
  };

  // Small and large pages have different numbers.
  uint64_t page_of(uint64_t address) const noexcept {
    if (s_.pm_page == page_bytes / 1024 || !memory_.is_persistent(line_of(address)))
      return address / page_bytes;
    return address >> page_shift_ | uint64_t{1} << 60;
  }
  // Whether the page costs nothing, and is the one used last from now on.
  bool is_in_first_buffer(core_part& c, uint64_t address) noexcept {
    const uint64_t page = page_of(address);
    if (page != c.last_page && c.tlb1.use(page) == nullptr) return false;
    c.last_page = page;
    c.last_small = memory_.has_whole_pages() ? address / page_bytes : UINT64_MAX;
    c.changes = memory_.changes();
    return true;
  }
  // Of a page that is in no first buffer.
  result access_other(unsigned core, uint64_t address, bool store, ticks at);
  ticks translate(unsigned core, uint64_t address, ticks at);
  // Fetches a line from beyond the second level.
  ticks fetch_third(unsigned core, uint64_t line, ticks at);
  ticks fetch(unsigned core, uint64_t line, bool store, ticks at, l2_line*& found);
  // The first level has missed that line: what comes next is fetched ahead.
  void fetch_ahead(unsigned core, uint64_t line, ticks at);
  l2_line& fill_second(uint64_t line, ticks at);
  void fill_first(unsigned core, uint64_t line, ticks at);
  // Takes the line out of another core's first level, or makes it shared there; when that is done.
  ticks recall(unsigned core, l2_line& l, bool keep, ticks at);
  void merge(l2_line& to, const l1_line& from) noexcept;
  ticks send(uint64_t line, ticks at);

  settings s_;
  memory& memory_;
  unsigned page_shift_;  // of pages of persistent memory
  ticks cycle_, l1_time_, l2_time_, l3_time_, tlb2_time_, walk_time_, way_out_;
  std::vector<core_part> cores_;
  line_cache<l2_line> l2_;
  // Clean lines: what is dirty goes to memory as well when it leaves the second level, which it may
  // at any time.
  std::optional<line_cache<tag>> l3_;
};

}  // namespace scute::sim
