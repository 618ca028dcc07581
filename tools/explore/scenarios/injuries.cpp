// SPDX-License-Identifier: BSD-3-Clause
// Misplaced and stale writes, damage in the worst places, and
// repairs that meet other work. Damage is never in a column that a crash may tear as well: one
// parity row repairs one of the two.
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

using bytes = std::vector<std::byte>;

testing::scenario start(const std::string& name, std::vector<uint64_t> sizes,
                        testing::pool_kind protection = redo) {
  auto s = with_directories(name, protection);
  s.setup([sizes = std::move(sizes)](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [&](change& c) {
      for (unsigned k = 0; k < sizes.size(); ++k) c.alloc(k, sizes[k], k + 1);
    });
  });
  return s;
}

void overwrites(testing::scenario& s, unsigned n, unsigned fill) {
  for (unsigned k = 0; k < n; ++k)
    s.step("overwrite",
           [=](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(0, fill + k); }); });
}

std::byte* stored(scute::pool& p, uint64_t slot) {
  return file_of(p).data() + offset_of(p, 0, slot);
}

// ---- logs and superblocks -----------------------------------------------------------------------

// Entries of one lane land in a replica of another one, which has done less.
testing::scenario misplaced_log(const level& l) {
  auto s = start(std::string("misplaced-log/") + l.name, {300, 300}, l.protection);
  s.lanes_in_turn();
  overwrites(s, 6, 10);
  s.step_on_stage("lane 1 over a replica of lane 0", [](const testing::stage& at) {
    const layout where(at);
    misplace(at, where.lane(1) + lane_ring, where.lane(0) + lane_ring, where.ring_size());
  });
  overwrites(s, 4, 20);
  s.step_on_stage("lane 2 over lane 1, lane 0 over lane 2", [](const testing::stage& at) {
    const layout where(at);
    misplace(at, where.lane(2) + lane_ring, where.lane(1) + lane_ring, where.ring_size());
    misplace(at, where.lane(0) + lane_ring, where.lane(2) + lane_ring, where.ring_size());
  });
  overwrites(s, 1, 40);
  return s;
}

// CRC-32C, bit by bit.
uint32_t crc32c(const std::byte* from, size_t n) {
  uint32_t sum = ~0u;
  for (size_t i = 0; i < n; ++i) {
    sum ^= static_cast<uint32_t>(from[i]);
    for (unsigned k = 0; k < 8; ++k) sum = (sum >> 1) ^ ((sum & 1) != 0 ? 0x82f63b78u : 0);
  }
  return ~sum;
}

// The first entry in a replica of lane 0 becomes one as another pool has it, of the same epoch and
// shape but with another salt, other bytes, and a higher sequence.
testing::scenario foreign_log(const level& l) {
  auto s = start(std::string("foreign-log/") + l.name, {300}, l.protection);
  overwrites(s, 1, 10);
  s.step_on_stage("another pool's entry in lane 0", [](const testing::stage& at) {
    constexpr uint64_t head = 64, room = 512;
    const uint64_t entry = layout(at).lane(0) + lane_ring;
    bytes e = copy_of(at, entry, room);
    uint64_t body = 0;
    std::memcpy(&body, e.data() + 40, sizeof body);
    if (e[0] != std::byte{'S'} || body < 300 || head + body > room)
      throw std::runtime_error("the ring does not begin with the entry of an overwrite");
    e[17] ^= std::byte{1};         // sequence
    e[48] ^= std::byte{1};         // salt
    e[head + 80] ^= std::byte{1};  // in the object
    const uint32_t sum = crc32c(e.data() + 8, head + body - 8);
    std::memcpy(e.data() + 4, &sum, sizeof sum);
    at.damage(entry, e);
  });
  overwrites(s, 2, 20);
  return s;
}

// A copy of the superblock is restored to its state when the pool was last closed.
testing::scenario old_superblock(const level& l) {
  auto s = start(std::string("old-superblock/") + l.name, {300}, l.protection);
  s.lanes_in_turn();
  s.step_on_stage("close, open, lose the last write of a copy", [](const testing::stage& at) {
    at.close();
    const uint64_t copy = layout(at).superblock(2);
    const bytes old = copy_of(at, copy, 512);
    at.open();
    at.damage(copy, old);
  });
  overwrites(s, 4, 20);
  return s;
}

// ---- headers and tables -------------------------------------------------------------------------

// An object lands on another one of its size.
testing::scenario misplaced_object() {
  auto s = start("misplaced-object", {200, 200});
  s.step_on_stage("object 1 over object 0", [](const testing::stage& at) {
    misplace(at, offset_of(at.pool(), 0, 1) - header_size, offset_of(at.pool(), 0, 0) - header_size,
             header_size + 200);
    commit(at.pool(), 0, [](change& c) { c.alloc(2, 200, 3); });
  });
  return s;
}

// The header of a live object gives way to one of a free slot, from when its chunk was a run
// before. (ZONE-2)
testing::scenario stale_header() {
  auto s = start("stale-header", {});
  const auto old = std::make_shared<bytes>();
  s.setup([old](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc(0, 1000, 1); });
    const scute_oid first = oid_of(p, 0, 0);
    commit(p, 0, [](change& c) { c.free(0); });
    const auto* header =
        static_cast<const std::byte*>(scute_get(p.native_handle(), first)) - header_size;
    old->assign(header, header + header_size);
    const uint64_t n = p.info().chunks_free, size = p.info().chunk_size;
    commit(p, 0, [&](change& c) { c.alloc(1, n * (size - size / page * header_size - 32), 2); });
    commit(p, 0, [](change& c) { c.alloc(0, 300, 3); });
    commit(p, 0, [](change& c) { c.free(1); });
    if (oid_of(p, 0, 0) != first) throw std::runtime_error("the chunk was not used again");
  });
  s.step_on_stage("a stale header", [old](const testing::stage& at) {
    at.damage(offset_of(at.pool(), 0, 0) - header_size, *old);
  });
  return s;
}

// Headers of live objects are hit so that they seem to say `free`; then there are allocations.
testing::scenario free_headers() {
  auto s = start("free-headers", {120, 120, 20000});
  s.step_on_stage("headers that say free; open, allocate", [](const testing::stage& at) {
    // Two chunks have room for 8 fragments, and headers for all of them at the start.
    const uint64_t span_headers = 8 * header_size;
    for (const uint64_t header :
         {offset_of(at.pool(), 0, 0) - header_size, offset_of(at.pool(), 0, 2) - span_headers}) {
      constexpr uint64_t state = 13;  // byte 5 of `meta`
      at.damage(header + state, bytes{std::byte{1}});
    }
    at.close();
    at.open();
    commit(at.pool(), 0, [](change& c) {
      c.alloc(3, 120, 4);
      c.alloc(4, 120, 5);
      c.alloc(5, 20000, 6);
    });
  });
  return s;
}

// The zone descriptor seems to say that nothing is in use.
testing::scenario lost_extent() {
  auto s = start("lost-extent", {120000, 100});
  s.step_on_stage("high-water mark of zero; open, overwrite", [](const testing::stage& at) {
    at.close();
    constexpr uint64_t high_water = 40;
    at.damage(layout(at).zone + high_water, bytes(2));
    at.open();
    commit(at.pool(), 0, [](change& c) { c.overwrite(1, 3); });
  });
  return s;
}

// ---- repairs ------------------------------------------------------------------------------------

// A scribble as long as a row, which begins and ends in the same page column.
testing::scenario row_scribble() {
  auto s = start("row-scribble", {120000});
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("scribble over one row's length, and repair", [k](const testing::stage& at) {
      scribble(at, offset_of(at.pool(), 0, 0) + 2000 + 777 * k, layout(at).row_size, 5 + k);
      if (at.pool().check(true).lost != 0) throw std::runtime_error("something was lost");
    });
  return s;
}

// An object is damaged, and opened to change those bytes and others: in both of its fragments.
testing::scenario opened_damaged() {
  auto s = start("opened-damaged", {7000});
  for (const uint64_t at_byte : {2000u, 5000u})
    s.step_on_stage("damage, edit", [=](const testing::stage& at) {
      scribble(at, offset_of(at.pool(), 0, 0) + at_byte, 64, 5);
      commit(at.pool(), 0, [&](change& c) { c.edit(0, at_byte - 10, 60, 20); });
    });
  for (const uint64_t at_byte : {2000u, 5000u})
    s.step_on_stage("damage, change the first bytes", [=](const testing::stage& at) {
      const uint64_t object = offset_of(at.pool(), 0, 0);
      const auto before = copy_of(at, object + at_byte, 64);
      scribble(at, object + at_byte, 64, 6);
      commit(at.pool(), 0, [&](change& c) { c.touch(0, 10, 21); });
      if (copy_of(at, object + at_byte, 64) != before)
        throw std::runtime_error("the damage was sealed in");
    });
  return s;
}

// A fragment that is open in place is damaged elsewhere, and repaired when more of it is opened.
testing::scenario damaged_in_place() {
  auto s = start("damaged-in-place", {8000});
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("in place, damage, more in place", [k](const testing::stage& at) {
      scute::pool& p = at.pool();
      const uint64_t object = offset_of(p, 0, 0);
      change c(p, 0);
      c.edit_in_place(0, 5000, 200, 20 + k);
      scribble(at, object + 6000, 100, 5);
      c.edit_in_place(0, 5600, 200, 40 + k);
      c.commit();
      expect(p, 0, 0, 5000, 200, 20 + k);
      expect(p, 0, 0, 5600, 200, 40 + k);
    });
  return s;
}

// Two objects are damaged in one column, which is beyond repair; but when one of them comes back,
// the other one can be rebuilt, if the repair has left the parity alone.
testing::scenario lost_columns() {
  constexpr uint64_t size = 50000, n = 64;
  auto s = start("lost-columns", {});
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 1);
      c.alloc(1, size, 2);
    });
    const column_meeting m(p.info().row_size, offset_of(p, 0, 0), offset_of(p, 0, 1), size, n);
    std::byte *first = stored(p, 0) + m.in_first, *second = stored(p, 1) + m.in_second;
    std::byte was[n];
    std::memcpy(was, second, n);
    fill_bytes(first, n, 77);
    fill_bytes(second, n, 78);
    p.check(true);
    std::memcpy(second, was, n);
    if (p.check(true).lost != 0) throw std::runtime_error("a repair destroyed evidence");
  });
  s.step("edit", [](scute::pool& p) { commit(p, 0, [](change& c) { c.edit(0, 5, 50, 5); }); });
  return s;
}

// Without checksums it is unknown which cell of a damaged column is wrong, so it must stay as it
// is.
testing::scenario blind_column() {
  auto s = start("blind-column", {}, levels[2].protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc(0, 7000, 1); });
    std::byte* at = stored(p, 0) + 2000;
    std::byte was[64];
    std::memcpy(was, at, sizeof was);
    fill_bytes(at, sizeof was, 5);
    p.check(true);
    if (p.check(false).damaged == 0) throw std::runtime_error("the damage was hidden");
    std::memcpy(at, was, sizeof was);
  });
  s.step("edit", [](scute::pool& p) { commit(p, 0, [](change& c) { c.edit(0, 5, 50, 5); }); });
  return s;
}

// One thread reads a fragment that is damaged in two places; another one commits between them, in
// another row of the same page column. So every byte of the fragment can be rebuilt at any moment,
// but only if no decode sees that column in the middle of a commit.
testing::scenario decode_beside_commit() {
  constexpr uint64_t size = 50000, length = 2200;
  auto s = with_directories("decode-beside-commit", redo, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    for (unsigned t = 0; t < 2; ++t) commit(p, t, [&](change& c) { c.alloc(0, size, t); });
  });
  const auto meeting = [](scute::pool& p, unsigned thread) {
    const uint64_t mine = offset_of(p, thread, 0), other = offset_of(p, 1 - thread, 0);
    const uint64_t low = std::min(mine, other), high = std::max(mine, other);
    // Where both ranges lie within one fragment and one page.
    for (uint64_t skip = 0;; skip += 64) {
      const column_meeting m(p.info().row_size, low, high - skip, size, length);
      const uint64_t x = m.in_first, y = m.in_second;
      const bool fits = y >= skip && x / page == (x + length) / page &&
                        (low + x) / page == (low + x + length) / page;
      if (fits || skip > size) return mine == low ? x : y - skip;
    }
  };
  for (unsigned k = 0; k < 6; ++k)
    s.in_thread(0).step_on_stage("damage a fragment twice, and read it",
                                 [=](const testing::stage& at) {
                                   scute::pool& p = at.pool();
                                   const uint64_t x = offset_of(p, 0, 0) + meeting(p, 0);
                                   scribble(at, x, 60, k);
                                   scribble(at, x + length - 100, 60, k + 1);
                                   contents(p, 0);
                                 });
  for (unsigned k = 0; k < 6; ++k)
    s.in_thread(1).step("edit between", [=](scute::pool& p) {
      const uint64_t y = meeting(p, 1);
      commit(p, 1, [&](change& c) { c.edit(0, y + 200, length - 400, 50 + k); });
    });
  return s;
}

// Where in thread 0's object the next page of the file begins.
uint64_t page_edge(scute::pool& p, uint64_t slot) {
  return page - offset_of(p, 0, slot) % page;
}

// The first object that has room enough on both sides of such an edge.
uint64_t across_pages(scute::pool& p) {
  for (uint64_t slot = 0; slot < 4; ++slot)
    if (const uint64_t edge = page_edge(p, slot); edge >= 500 && edge <= 2500) return slot;
  throw std::runtime_error("no object lies across pages");
}

// A thread opens a fragment and commits it while another one repairs damage in other parts of it.
testing::scenario repair_beside_commit() {
  auto s = with_directories("repair-beside-commit", redo, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      for (unsigned k = 0; k < 4; ++k) c.alloc(k, 3000, 1);
      c.alloc(4, 9000, 2);
    });
    commit(p, 1, [](change& c) { c.alloc(0, 100, 1); });
  });
  s.in_thread(0).step("edit on both sides of a page's edge", [](scute::pool& p) {
    const uint64_t slot = across_pages(p), edge = page_edge(p, slot);
    change c(p, 0);
    c.edit(slot, edge - 400, 100, 40);
    c.edit(slot, edge + 300, 100, 50);
    // Some time goes by before the commit. (More ranges would need a lent chunk, and a crash would
    // have its columns recomputed, damage and all.)
    for (unsigned i = 0; i < 4; ++i) c.edit_in_place(4, 5000 + 70 * i, 60, 60 + i);
    c.commit();
  });
  s.in_thread(1).step_on_stage("damage the edge, and read", [](const testing::stage& at) {
    scute::pool& p = at.pool();
    const uint64_t slot = across_pages(p);
    const scute_oid oid = oid_of(p, 0, slot);
    // The repair takes two blocks, one after the other.
    scribble(at, offset_of(p, 0, slot) + page_edge(p, slot) - 200, 400, 5);
    // The bytes that it sees in the middle of a commit may be neither the one nor the other; it
    // must only not write that back.
    const void* from = nullptr;
    scute_get_verified(p.native_handle(), oid, &from);
  });
  return s;
}

// Thread 1 reads and so repairs a fragment that lies across a page's edge, and thread 0, which has
// opened it before, commits a change in one of the two pages meanwhile. The bytes read must include
// a change that is committed when the read returns: at_edge bytes after the edge, or before it.
testing::scenario read_beside_commit(const char* name, int64_t at_edge) {
  constexpr uint64_t length = 40, fragment = 2 * 4096;  // the third fragment of a large object
  auto s = with_directories(name, redo, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, 20000, 1);
      c.alloc(1, 300, 2);
      c.alloc(2, 100, 3);
    });
    commit(p, 1, [](change& c) { c.alloc(0, 100, 1); });
  });
  const auto edge_of = [](scute::pool& p) {
    return fragment + page - (offset_of(p, 0, 0) + fragment) % page;
  };
  s.in_thread(0).step("change one page of the fragment", [=](scute::pool& p) {
    const uint64_t at = edge_of(p) + static_cast<uint64_t>(at_edge);
    change c(p, 0);
    c.edit(0, at, length, 40);
    for (unsigned i = 0; i < 3; ++i) c.edit_in_place(1, 70 * i, 60, 60 + i);  // some time goes by
    c.overwrite(2, 41);  // written last, so a reader that sees it can know that the rest is there
    c.commit();
  });
  s.in_thread(1).step_on_stage("damage both pages, and read", [=](const testing::stage& at) {
    scute::pool& p = at.pool();
    const uint64_t edge = edge_of(p);
    const scute_oid oid = oid_of(p, 0, 0);
    scribble(at, offset_of(p, 0, 0) + edge - 20, 40, 5);
    const void* from = nullptr;
    if (scute_get_verified(p.native_handle(), oid, &from) != SCUTE_OK) return;
    unsigned char fresh[100];
    fill_bytes(fresh, sizeof fresh, 41);
    if (std::memcmp(stored(p, 2), fresh, sizeof fresh) != 0) return;  // not committed yet
    fill_bytes(fresh, length, 40);
    const auto* there = static_cast<const unsigned char*>(from) + edge + at_edge;
    if (std::memcmp(there, fresh, length) != 0)
      throw std::runtime_error("a verified read gives bytes of before the last commit");
  });
  return s;
}

testing::scenario read_beside_commit_after() {
  return read_beside_commit("read-beside-commit/after", 60);
}
testing::scenario read_beside_commit_before() {
  return read_beside_commit("read-beside-commit/before", -1000);
}

}  // namespace

void add_injury_scenarios(std::vector<entry>& to) {
  add_at({levels[1], levels[3]},
         {{"misplaced-log", "a lane's log lands in another lane", misplaced_log},
          {"foreign-log", "a log of the pool that was there before", foreign_log},
          {"old-superblock", "a copy of the superblock goes back in time", old_superblock}},
         to);
  // (The other two are about entries in the rings of lanes, which engine spec does not write.)
  add_at({spec_levels[1]},
         {{"old-superblock", "a copy of the superblock goes back in time", old_superblock}}, to);
  struct kind {
    const char* name;
    const char* about;
    testing::scenario (*make)();
  };
  for (const kind& k :
       {kind{"misplaced-object", "an object lands on another one", misplaced_object},
        {"stale-header", "the write of a header was lost long ago", stale_header},
        {"free-headers", "headers that seem to say free", free_headers},
        {"lost-extent", "a zone descriptor that seems to say empty", lost_extent},
        {"row-scribble", "a scribble as long as a row", row_scribble},
        {"opened-damaged", "damaged objects are opened for a change", opened_damaged},
        {"damaged-in-place", "a repair next to an open in-place range", damaged_in_place},
        {"lost-columns", "two cells of a column damaged, one comes back", lost_columns},
        {"blind-column", "damage that nothing can locate", blind_column},
        {"decode-beside-commit", "a column is decoded while it changes", decode_beside_commit},
        {"repair-beside-commit", "a repair meets a commit of the same", repair_beside_commit},
        {"read-beside-commit/after", "a reader repairs, a commit changes the second page",
         read_beside_commit_after},
        {"read-beside-commit/before", "a reader repairs, a commit changes the first page",
         read_beside_commit_before}})
    to.push_back({k.name, k.about, [make = k.make](uint64_t) { return make(); }});
}

}  // namespace scute::explore
