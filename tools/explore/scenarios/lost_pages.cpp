// SPDX-License-Identifier: BSD-3-Clause
// Pages that cannot be read: while they are rebuilt the power fails, while transactions are under
// way they are lost, and in the columns of transactions that a crash has torn.
#include <stdexcept>
#include <vector>

#include "scenarios/catalogue.hpp"
#include "scenarios/directory.hpp"
#include "scenarios/layout.hpp"

namespace scute::explore {
namespace {

// The file offset of the parity under this offset of the data rows.
uint64_t parity_of(scute::pool& p, uint64_t offset) {
  const auto i = p.info();
  const layout where(file_of(p));
  return where.zone + i.rows * i.row_size + (offset - where.zone) % i.row_size;
}

// With engine spec a crash and damage at once, in a column with live records, may cost what is
// there (lost-in-torn-column, which is for all engines). Where nothing may be lost all is
// checkpointed before.
void checkpoint_if_need_be(scute::pool& p) {
  if (p.info().engine == SCUTE_ENGINE_SPEC) p.drain();
}

// A page with objects, one of parity, one of a chunk header, each lost and then used.
testing::scenario used(const level& l) {
  auto s = with_directories("lost-page", l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, 200, 1);
      c.alloc(1, 6000, 2);
    });
  });
  s.step_on_stage("lose the page of an object, and read it", [](const testing::stage& at) {
    checkpoint_if_need_be(at.pool());
    at.lose_page(offset_of(at.pool(), 0, 0));
    expect(at.pool(), 0, 0, 0, 200, 1);
  });
  s.step_on_stage("lose it again, and overwrite the object", [](const testing::stage& at) {
    checkpoint_if_need_be(at.pool());
    at.lose_page(offset_of(at.pool(), 0, 0));
    commit(at.pool(), 0, [](change& c) { c.overwrite(0, 11); });
  });
  s.step_on_stage("lose its parity, and overwrite it", [](const testing::stage& at) {
    checkpoint_if_need_be(at.pool());
    at.lose_page(parity_of(at.pool(), offset_of(at.pool(), 0, 0)));
    commit(at.pool(), 0, [](change& c) { c.overwrite(0, 12); });
  });
  s.step_on_stage("lose a page of a larger object, and edit it in place",
                  [](const testing::stage& at) {
                    checkpoint_if_need_be(at.pool());
                    at.lose_page(offset_of(at.pool(), 0, 1) + 3000);
                    commit(at.pool(), 0, [](change& c) { c.edit_in_place(1, 2900, 300, 13); });
                  });
  s.step_on_stage("lose a page with chunk headers, and allocate", [](const testing::stage& at) {
    checkpoint_if_need_be(at.pool());
    at.lose_page(layout(file_of(at.pool())).chunk_header(0));
    commit(at.pool(), 0, [](change& c) { c.alloc(2, 3000, 14); });
  });
  // The log page's event is written to the ring in that superblock page (EVENT-4).
  s.step_on_stage("lose a superblock page and a log page, and overwrite",
                  [](const testing::stage& at) {
                    checkpoint_if_need_be(at.pool());
                    at.lose_page(0);
                    at.lose_page(layout(file_of(at.pool())).lane(0, 0));
                    commit(at.pool(), 0, [](change& c) { c.overwrite(0, 15); });
                  });
  return s;
}

// Two pages are lost, in different columns, and come back one after the other; then the pool is
// opened again with one of them still lost.
testing::scenario two(const level& l) {
  auto s = with_directories("two-lost-pages", l.protection);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) { c.alloc(0, 14000, 1); });
  });
  for (unsigned k = 0; k < 2; ++k)
    s.step_on_stage("lose two pages, edit one, read the other", [k](const testing::stage& at) {
      const uint64_t object = offset_of(at.pool(), 0, 0);
      checkpoint_if_need_be(at.pool());
      at.lose_page(object + 1000);
      at.lose_page(object + 9000);
      commit(at.pool(), 0, [&](change& c) { c.edit(0, 500 + 9000 * k, 100, 20 + k); });
    });
  s.step_on_stage("lose a page, and open the pool again", [](const testing::stage& at) {
    checkpoint_if_need_be(at.pool());
    at.lose_page(offset_of(at.pool(), 0, 0) + 5000);
    at.close();
    at.open();
  });
  return s;
}

// A transaction commits while another thread loses pages of the same columns: the data's, the
// parity's.
testing::scenario under_hands(const level& l) {
  auto s = with_directories("lost-under-commit", l.protection, 2);
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, 30, 1);
      c.alloc(1, 700, 2);
    });
    commit(p, 1, [](change& c) { c.alloc(0, 30, 3); });
  });
  s.step("change a few bytes, and many", [](scute::pool& p) {
    commit(p, 0, [](change& c) {
      c.edit(0, 3, 8, 11);
      c.edit(1, 10, 600, 12);
    });
    expect(p, 0, 0, 3, 8, 11);
    expect(p, 0, 1, 10, 600, 12);
  });
  s.step("in place", [](scute::pool& p) {
    for (;;) try {
        commit(p, 0, [](change& c) { c.edit_in_place(1, 100, 500, 13); });
        return expect(p, 0, 1, 100, 500, 13);
      } catch (const scute::error& e) {  // the stores were lost with their page: again
        if (e.which() != scute::errc::corrupt) throw;
      }
  });
  auto other = s.in_thread(1);
  for (const bool parity : {true, false})
    for (const uint64_t slot : {0u, 1u})
      other.step_on_stage(
          parity ? "lose the parity of what the other thread changes" : "lose what it changes",
          [=](const testing::stage& at) {
            scute::pool& p = at.pool();
            uint64_t where = offset_of(p, 0, slot) + 150 * slot;
            if (parity) where = parity_of(p, where);
            at.lose_page(where);
            // Meanwhile the other thread may meet it; after that, this one does.
            commit(p, 1, [=](change& c) { c.edit(0, 5, 6, 20 + static_cast<unsigned>(slot)); });
            static_cast<void>(*reinterpret_cast<const volatile char*>(&file_of(p)[where]));
          });
  // The data as the parity decodes it by now.
  other.step_on_stage("lose it a second time, and look", [](const testing::stage& at) {
    scute::pool& p = at.pool();
    for (const uint64_t slot : {0u, 1u}) {
      const uint64_t where = offset_of(p, 0, slot) + 150 * slot;
      at.lose_page(where);
      // The handler gives no thread bytes that fail their checksum.
      static_cast<void>(*reinterpret_cast<const volatile char*>(&file_of(p)[where]));
    }
  });
  return s;
}

// Slot 1 of thread 0 as it must be, or lost and reported as lost: by an error, or, without
// checksums, by a pattern in place of the bytes and by an event.
std::string right_or_reported(scute::pool& p, uint64_t size, unsigned fill) {
  const std::string text = "as it was, or reported";
  const scute_oid oid = oid_of(p, 0, 1);
  const void* bytes = nullptr;
  const int e = scute_get_verified(p.native_handle(), oid, &bytes);
  if (e == SCUTE_E_CORRUPT) return text;
  scute::detail::check(e);
  std::vector<unsigned char> expected(size);
  fill_bytes(expected.data(), size, fill);
  const auto* is = static_cast<const unsigned char*>(bytes);
  bool lost = false;
  for (uint64_t i = 0; i < size; ++i) {
    if (is[i] == expected[i]) continue;
    if (is[i] != 0xdb) throw std::runtime_error("a guess in place of byte " + std::to_string(i));
    lost = true;
  }
  if (!lost) return text;
  for (const auto& event : p.events())
    if (event.outcome == SCUTE_OUTCOME_LOST && event.object == oid) return text;
  throw std::runtime_error("no event reports a loss");
}

// A page is lost in one row of a column, and a transaction changes another row of it: if the power
// fails then, the page's content there is unknown. It must come back right, or be reported.
// (SUSPAGE-3)
testing::scenario torn(const level& l) {
  constexpr uint64_t size = 50000, n = 200;
  auto s = with_directories("lost-in-torn-column", l.protection);
  s.may_lose();
  s.setup([](scute::pool& p) {
    make_directories(p);
    commit(p, 0, [](change& c) {
      c.alloc(0, size, 1);
      c.alloc(1, size, 2);
      c.alloc(2, 100, 3);
    });
  });
  s.step_on_stage("lose a page, change another row of its column", [](const testing::stage& at) {
    scute::pool& p = at.pool();
    const uint64_t first = offset_of(p, 0, 0), second = offset_of(p, 0, 1);
    const bool order = first < second;
    const column_meeting meet(p.info().row_size, order ? first : second, order ? second : first,
                              size, n);
    const uint64_t in_changed = order ? meet.in_first : meet.in_second;
    const uint64_t in_lost = order ? meet.in_second : meet.in_first;
    at.lose_page(second + in_lost);
    commit(p, 0, [&](change& c) { c.edit(0, in_changed, n, 11); });
  });
  s.step("and a transaction elsewhere",
         [](scute::pool& p) { commit(p, 0, [](change& c) { c.overwrite(2, 12); }); });
  s.observe([](scute::pool& p) {
    std::string text = right_or_reported(p, size, 2);
    const void* small_bytes = nullptr;
    scute::detail::check(scute_get_verified(p.native_handle(), oid_of(p, 0, 2), &small_bytes));
    const auto* small = static_cast<const unsigned char*>(small_bytes);
    text += "; " + std::to_string(small[0]) + " " + std::to_string(small[99]);
    return text;
  });
  return s;
}

}  // namespace

void add_lost_page_scenarios(std::vector<entry>& to) {
  add_at({levels[2], levels[3], levels[4], levels[5], spec_levels[1], spec_levels[2],
          spec_levels[3], spec_levels[5]},
         {{"two-lost-pages", "two pages are lost, and a lost one is carried over", two}}, to);
  // In a pool of four parities the last allocation lies in columns of the chunk headers whose page
  // is lost, so its record is live there when the repair is cut short: the exposure that engine
  // spec has (checkpoint_if_need_be).
  add_at(
      {levels[2], levels[3], levels[4], levels[5], spec_levels[1], spec_levels[2], spec_levels[5]},
      {{"lost-page", "a page is lost, and used", used}}, to);
  add_at({levels[2], levels[3], levels[4], levels[5]},
         {{"lost-under-commit", "pages are lost while a commit writes them", under_hands}}, to);
  add_at({levels[2], levels[3], levels[4], levels[5], spec_levels[1], spec_levels[2],
          spec_levels[3], spec_levels[5]},
         {{"lost-in-torn-column", "a lost page and a crash in one column", torn}}, to);
}

}  // namespace scute::explore
