// SPDX-License-Identifier: BSD-3-Clause
// Engine spec: columns that an opening has left unresolved
// (core/engine/speculative/recovery/unresolved.hpp), where a checkpoint resolves all of them at
// once, as in so small a pool, and where it resolves one, as in a large one a small part.
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "scenarios/layout.hpp"
#include "scenarios/spec_scene.hpp"

namespace scute::explore {
namespace {

constexpr unsigned all_at_once = 64;

// The power fails with the parity of a commit not written back: the next process has its columns
// unresolved.
void die_with_old_parity(const testing::stage& at, const std::function<void(change&)>& body,
                         unsigned thread = 0) {
  scute::detail::check(scute_drain(at.pool().native_handle()));
  const std::vector<std::byte> before(at.bytes().begin(), at.bytes().end());
  change c(at.pool(), thread);
  body(c);
  c.commit();
  at.abandon();
  const layout where(at.bytes());
  const uint64_t begin = where.parity(0), end = where.zone_end();
  at.damage(begin, {before.data() + begin, end - begin});
  at.open();
}

// Columns that an opening has left unresolved: others are written, some are resolved by a
// checkpoint, all are, or none; and then the power fails again (UNRES-1, UNRES-3, UNRES-4).
testing::scenario unresolved_by(const std::string& name, const level& l, unsigned at_once) {
  auto s = spec_scene(name, l, 2);
  s.resolve_at_once(at_once);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 3; ++k) {
    s.step_on_stage("two objects are overwritten; the power fails", [k](const testing::stage& at) {
      die_with_old_parity(at, [k](change& c) {
        c.overwrite(k % 3, 10 + k);
        c.overwrite((k + 1) % 3, 20 + k);
      });
    });
    s.step("overwrite one of them",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(k % 3, 30 + k); }); });
    if (k != 1) checkpoint(s);
    s.step_on_stage("die again", [](const testing::stage& at) {
      at.abandon();
      at.open();
    });
    s.step("in place", [k](scute::pool& p) {
      commit(p, 0, [&](change& c) { c.edit_in_place(2, 100, 300, 40 + k); });
    });
    if (k == 1)
      s.step("resolve all", [](scute::pool& p) {
        scute::detail::check(scute_recovery_wait(p.native_handle(), nullptr, nullptr));
      });
    checkpoint(s);
  }
  return s;
}

// Segments whose columns are unresolved are not used again, however much is written (UNRES-3,
// UNRES-5).
testing::scenario turns_by(const std::string& name, const level& l, unsigned at_once) {
  auto s = spec_scene(name, l, 1);
  s.resolve_at_once(at_once);
  s.observe([](scute::pool& p) { return contents(p, 0); });
  s.step_on_stage("the small ones are overwritten; the power fails", [](const testing::stage& at) {
    die_with_old_parity(at, [](change& c) {
      c.overwrite(0, 10);
      c.overwrite(1, 20);
    });
  });
  for (unsigned k = 0; k < 10; ++k)
    s.step("overwrite the largest",
           [k](scute::pool& p) { commit(p, 0, [&](change& c) { c.overwrite(2, 30 + k); }); });
  return s;
}

// An object that the log has restored is damaged, or lost, before its columns are resolved. The
// columns decode to an older version, which no reader gets (UNRES-2, PAGE-9).
testing::scenario unresolved_damage(const level& l) {
  auto s = spec_scene("spec-unresolved-damage", l, 2);
  s.resolve_at_once(1).may_lose();
  s.observe([](scute::pool& p) { return contents(p, 0); });
  for (unsigned k = 0; k < 4; ++k)
    s.step_on_stage(
        "overwrite, the power fails, and that is damaged", [k](const testing::stage& at) {
          const uint64_t slot = k / 2;
          die_with_old_parity(at, [&](change& c) { c.overwrite(slot, 10 + k); }, 1);
          const uint64_t header = offset_of(at.pool(), 1, slot) - header_size;
          if (k % 2 == 0)
            scribble(at, header, header_size + spec_sizes[slot], 99);
          else
            at.lose_page(header);
          const void* bytes = nullptr;
          const int e =
              scute_get_verified(at.pool().native_handle(), oid_of(at.pool(), 1, slot), &bytes);
          if (e == SCUTE_OK)
            expect(at.pool(), 1, slot, 0, spec_sizes[slot], 10 + k);
          else if (e != SCUTE_E_CORRUPT)
            scute::detail::check(e);
          commit(at.pool(), 1, [&](change& c) { c.free(slot); });
          commit(at.pool(), 1, [&](change& c) { c.alloc(slot, spec_sizes[slot], 20 + k); });
          at.pool().check(true);
        });
  return s;
}

testing::scenario unresolved(const level& l) {
  return unresolved_by("spec-unresolved", l, all_at_once);
}
testing::scenario unresolved_slowly(const level& l) {
  return unresolved_by("spec-unresolved-slowly", l, 1);
}
testing::scenario unresolved_turns(const level& l) {
  return turns_by("spec-unresolved-turns", l, all_at_once);
}
testing::scenario unresolved_turns_slowly(const level& l) {
  return turns_by("spec-unresolved-turns-slowly", l, 1);
}

}  // namespace

void add_spec_unresolved_scenarios(std::vector<entry>& to) {
  const std::initializer_list<level> at = {spec_levels[0], spec_levels[1], spec_levels[2],
                                           spec_levels[3], spec_levels[5]};
  add_at(at,
         {{"spec-unresolved", "engine spec: columns that an opening leaves unresolved", unresolved},
          {"spec-unresolved-turns", "engine spec: a log that is turned over after such an opening",
           unresolved_turns}},
         to);
  // Without parity nothing is left.
  add_at({spec_levels[1], spec_levels[2]},
         {{"spec-unresolved-slowly",
           "engine spec: such columns, of which each checkpoint resolves one", unresolved_slowly},
          {"spec-unresolved-turns-slowly", "engine spec: the same while the log is turned over",
           unresolved_turns_slowly},
          {"spec-unresolved-damage", "engine spec: damage in such columns", unresolved_damage}},
         to);
}

}  // namespace scute::explore
