// SPDX-License-Identifier: BSD-3-Clause
#include "core/repair/page_repair.hpp"

#include <csetjmp>
#include <cstring>

#include "base/locks/waiting.hpp"
#include "base/process/thread_block.hpp"
#include "base/rounding.hpp"
#include "codec/parity/galois.hpp"
#include "codec/parity/parity.hpp"
#include "core/repair/page_layout.hpp"
#include "core/shared/optimistic.hpp"
#include "core/shared/pool/library_call.hpp"

namespace scute::core::repair {
namespace {

// The state of this thread's rebuilding, for a fault that occurs meanwhile.
struct rebuilding {
  std::jmp_buf* way_out = nullptr;
  volatile uint64_t second = 0;
};
// (Not inlined: after a jump a local copy of the address could be wrong.)
[[gnu::noinline]] rebuilding& this_thread_rebuilds() noexcept {
  return part_of_thread<rebuilding>(own_thread_block().rebuilding);
}

// Runs body, which owns nothing that needs a destructor. If it meets a page that cannot be read,
// body is left there and the page returned; otherwise 0, which is no page of a zone.
template <typename Body>
uint64_t until_second_loss(Body&& body) noexcept {
  std::jmp_buf way_out;
  if (_setjmp(way_out) != 0) {
    this_thread_rebuilds().way_out = nullptr;
    return this_thread_rebuilds().second;
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  this_thread_rebuilds().way_out = &way_out;
  body();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  this_thread_rebuilds().way_out = nullptr;
  return 0;
}

// Bytes that no checksum accepts, and that are easy to recognize in a debugger.
constexpr auto lost_byte = std::byte{0xdb};

}  // namespace

// Without a lock contract: which desk it takes is decided at run time.
class page_repairer::desk_guard {
 public:
  explicit desk_guard(desk& d) noexcept : d_(d) { d.taken.lock(); }
  explicit desk_guard(std::array<desk, 4>& desks) noexcept : d_(any(desks)) {}
  ~desk_guard() { d_.taken.unlock(); }
  desk_guard(const desk_guard&) = delete;
  desk_guard& operator=(const desk_guard&) = delete;
  desk* operator->() const noexcept { return &d_; }
  desk& operator*() const noexcept { return d_; }

 private:
  static desk& any(std::array<desk, 4>& desks) noexcept SCUTE_NO_LOCK_ANALYSIS {
    for (unsigned spins = 0;; spin_pause(spins))
      for (desk& d : desks)
        if (d.taken.try_lock()) return d;
  }
  desk& d_;
};

page_repairer::page_repairer(pool::state& s)
    : notes(s),
      s_(s),
      desks_{desk(*s.medium), desk(*s.medium), desk(*s.medium), desk(*s.medium)},
      plain_(*s.medium),
      log_(*s.medium) {}

bool page_repairer::second_loss(uint64_t page) noexcept {
  rebuilding& r = this_thread_rebuilds();
  if (r.way_out == nullptr) return false;
  r.second = page;
  std::longjmp(*r.way_out, 1);
}

page_repairer::outcome page_repairer::repair(uint64_t page, beyond_repair then,
                                             scute_finder finder) noexcept {
  const bool in_zone = page >= s_.geo.zones_offset && page < s_.geo.zones_end();
  if (!in_zone) return repair_plain_page(page, finder);
  if (is_log_page(page)) return repair_log_page(page, finder);
  if (!s_.has_parity) return outcome::hopeless;
  return repair_zone_page(page, then, finder);
}

// ---- zones --------------------------------------------------------------------------------------

page_repairer::outcome page_repairer::repair_zone_page(uint64_t page, beyond_repair then,
                                                       scute_finder finder) noexcept {
  const pool::cell c = pool::cell_of(s_.geo, page);
  const uint32_t stripe = pool::stripes::index(c.zone, c.column / pool::column_block);
  pool::in_flight_write& mine = pool::this_thread_in_flight();
  const bool holder = mine.pool == &s_;
  const pool::lane* window = mine.window;
  const bool ours = window == nullptr ? mine.stripe == stripe
                    : mine.of == pool::in_flight_write::share::deferred
                        ? window->last().has(stripe)
                        : window->has_stripe(stripe);
  if (holder && !ours) return outcome::hopeless;  // violates INFLIGHT-1; never waits for it
  if (holder && !mine.shared) return rebuild(page, then, finder);
  if (!holder) {
    s_.locks.lock_exclusive(stripe);
    outcome result = outcome::readable;
    {
      const pool::in_flight_scope here(s_, stripe, pool::in_flight_write::mode::exclusive);
      if (s_.medium->is_revoked(page)) result = rebuild(page, then, finder);
    }
    s_.locks.unlock_exclusive(stripe, pool::stripes::stores::streamed);
    return result;
  }
  // PAGE-3: a holder in shared mode.
  std::atomic<const pool::in_flight_write*>* place = nullptr;
  for (auto& p : parked_) {
    const pool::in_flight_write* none = nullptr;
    if (p.compare_exchange_strong(none, &mine, std::memory_order_acq_rel)) {
      place = &p;
      break;
    }
  }
  SCUTE_ASSERT(place != nullptr);  // there are more places than lanes
  s_.locks.park(stripe);
  outcome result = outcome::readable;
  for (unsigned spins = 0; s_.medium->is_revoked(page) && result == outcome::readable;) {
    if (!s_.locks.try_lead(stripe)) {
      spin_pause(spins);
      continue;
    }
    if (s_.medium->is_revoked(page)) result = rebuild(page, then, finder);
    s_.locks.end_lead(stripe);
  }
  place->store(nullptr, std::memory_order_release);
  for (unsigned spins = 0; !s_.locks.try_unpark(stripe);) spin_pause(spins);
  return result;
}

// The stripe is held by this thread alone.
page_repairer::outcome page_repairer::rebuild(uint64_t page, beyond_repair then,
                                              scute_finder finder) noexcept {
  {
    const desk_guard d(desks_);
    const bool noted = notes.add(d->w, page);
    const bool whole = compose(page, *d);
    const auto& undecodable = d->undecodable;
    if (whole && undecodable.any() && then == beyond_repair::revoked) return outcome::hopeless;
    if (whole) {
      if (!s_.medium->restore_page(d->w, page, d->page)) {
        // The page is restored for this session only; the note stays, for the next one.
        if (!s_.medium->is_revoked(page)) return outcome::readable;
        // The device does not accept the page.
        s_.lost.fetch_add(1, std::memory_order_relaxed);
        s_.events.post({SCUTE_EVENT_PAGE, SCUTE_OUTCOME_LOST, finder, page, format::page});
        return outcome::hopeless;
      }
      if (suspecting_.load(std::memory_order_relaxed)) {
        const uint32_t i = suspects_.fetch_add(1);
        if (i < suspects_max) suspect_pages_[i] = page;
      } else if (noted) {
        notes.remove(d->w, page);
      }
      repaired_pages.fetch_add(1, std::memory_order_relaxed);
      if (undecodable.any()) {
        s_.lost.fetch_add(1, std::memory_order_relaxed);
        s_.events.post({SCUTE_EVENT_PAGE, SCUTE_OUTCOME_LOST, finder, page, format::page});
        name_losses(page, &undecodable, finder);
        ++pool::losses_of_this_thread;
        return outcome::hopeless;
      }
      s_.repaired.fetch_add(1, std::memory_order_relaxed);
      s_.events.post({SCUTE_EVENT_PAGE, SCUTE_OUTCOME_REPAIRED, finder, page, format::page});
      return outcome::readable;
    }
    if (then == beyond_repair::revoked) return outcome::hopeless;
    // PAGE-6. First all other lost pages: with the others back, one would look as if it could be
    // rebuilt.
    uint64_t second = 0;
    for (uint64_t last = 0; other_loss(page, second) && second != last; last = second)
      condemn(second, *d, finder);
    condemn(page, *d, finder);
  }
  ++pool::losses_of_this_thread;
  return outcome::hopeless;
}

page_repairer::losses page_repairer::neighbour_losses(uint64_t page) const noexcept {
  losses l;
  const auto& g = s_.geo;
  const pool::cell c = pool::cell_of(g, page);
  const uint64_t first = g.zone_offset(c.zone) + round_down(c.column, format::page);
  const uint64_t used_end =
      g.zone_offset(c.zone) + s_.used_end[c.zone].load(std::memory_order_acquire);
  for (uint64_t row = 0; row < g.rows + g.parity; ++row) {
    const uint64_t at = first + row * g.row_size;
    if (row < g.rows && at >= used_end) continue;  // never used: counts as zeros
    if (at == page || !s_.medium->is_revoked(at)) continue;
    if (row < g.rows && s_.overlaid.lent(at, format::page)) continue;  // zeros here
    if (row >= g.rows)
      l.parities |= pool::parity_set{1} << (row - g.rows);
    else if (l.row_count == pool::parities_max)
      l.too_many = true;
    else
      l.rows[l.row_count++] = static_cast<uint16_t>(row);
  }
  return l;
}

// Leaves the right content of the page in d.page. Returns false if too many other pages of the
// column are lost as well.
bool page_repairer::compose(uint64_t page, desk& d) noexcept {
  d.undecodable = {};
  d.others = {};
  const pool::cell c = pool::cell_of(s_.geo, page);
  const bool is_parity = c.row >= s_.geo.rows;
  const uint64_t inside = page - s_.geo.zone_offset(c.zone);
  if (!is_parity && inside >= s_.used_end[c.zone].load(std::memory_order_acquire)) {
    std::memset(d.page, 0, format::page);
    return true;
  }
  pool::recipe r;
  // Overlaid bytes may be stored to meanwhile, and are replaced. The mark is outside of gather(),
  // since a second loss leaves gather() by a jump.
  const pool::optimistic_reads mark;
  for (bool whole = false; !whole;) {  // each round knows of one more loss
    const losses l = neighbour_losses(page);
    if (l.too_many || !pool::find_recipe(s_.geo, c.row, {l.rows, l.row_count}, ~l.parities, r))
      return false;
    const uint64_t second =
        until_second_loss([&] { pool::gather(s_, c.zone, c.column, format::page, r, d.room); });
    if (second != 0) s_.medium->revoke_page(second);
    whole = second == 0;
  }
  adjust_sums(c, r, d.room);
  pool::combine(r, d.room, format::page, d.page);
  if (s_.resolving->undecodable(page, d.undecodable, d.others)) {
    if (!s_.has_checksums) d.undecodable.add(d.others);
    d.undecodable.for_each_run([&](uint64_t begin, uint64_t end) {
      std::memset(d.page + begin, static_cast<int>(lost_byte), end - begin);
    });
  }
  finish_window(c, d.page);
  if (!is_parity) s_.overlaid.renew(page, d.page, format::page);
  finish_pieces(page, is_parity, d.page);
  return true;
}

namespace {

// Calls fn(number, piece, its row, its place in the page) for the pieces of a window in a column
// block.
template <typename Fn>
void for_each_piece_in(const pool::geometry& g, const pool::cell& c, const pool::lane& l, Fn&& fn) {
  const uint64_t from = round_down(c.column, format::page);
  for (uint64_t i = 0; i < l.pieces.size(); ++i) {
    const pool::piece& p = l.pieces[i];
    const pool::cell at = pool::cell_of(g, p.offset);
    if (at.zone == c.zone && at.column >= from && at.column < from + format::page)
      fn(i, p, at.row, at.column - from);
  }
}

// The number of bytes of a piece that step i of a phase has done.
uint32_t done_by(const pool::lane& l, uint64_t step, uint32_t length) noexcept {
  const uint64_t current = l.progress.piece;
  return step < current ? length : step == current ? uint32_t{l.progress.done} : 0;
}

}  // namespace

// PAGE-3, in a window: some of the cells in the sums have the window's new bytes, and some the old
// ones. Makes all sums those of one version: the old one in the data phase; in the parity phase the
// new one, except that in-place ranges count with their old bytes (state::overlaid) until that
// phase is over.
void page_repairer::adjust_sums(const pool::cell& c, const pool::recipe& r,
                                pool::gather_room& room) const noexcept {
  const pool::lane* l = pool::this_thread_in_flight().window;
  const auto now = pool::this_thread_in_flight().now;
  if (l == nullptr || now == pool::in_flight_write::phase::reading) return;
  const uint32_t parities = s_.geo.parity;
  for_each_piece_in(
      s_.geo, c, *l, [&](uint64_t i, const pool::piece& p, uint64_t row, uint64_t at) {
        for (uint32_t k = 0; k < r.sum_count; ++k) {
          const uint32_t parity = r.parity[k];
          const uint8_t times = pool::coefficient_of(s_.geo, parity, p.offset);
          const auto add = [&](uint32_t from, uint32_t to) {
            codec::galois::multiply_into(room.sum[k] + at + from, p.delta + from, times, to - from);
          };
          if (now == pool::in_flight_write::phase::data) {
            if (p.old == nullptr && !r.leaves_out(row)) add(0, done_by(*l, i, p.length));
          } else if (r.stored[k]) {
            const uint32_t done = done_by(*l, i * parities + parity, p.length);
            if (p.old != nullptr)
              add(0, done);
            else
              add(done, p.length);
          }
        }
      });
}

// Then changes this cell, computed from those sums, to the bytes that the window expects.
void page_repairer::finish_window(const pool::cell& c, std::byte* bytes) const noexcept {
  const pool::lane* l = pool::this_thread_in_flight().window;
  const auto now = pool::this_thread_in_flight().now;
  if (l == nullptr || now == pool::in_flight_write::phase::reading) return;
  const auto& g = s_.geo;
  for_each_piece_in(g, c, *l, [&](uint64_t i, const pool::piece& p, uint64_t row, uint64_t at) {
    if (now == pool::in_flight_write::phase::data) {
      if (row == c.row && p.old == nullptr)
        codec::xor_into(bytes + at, p.delta, done_by(*l, i, p.length));
      return;
    }
    if (c.row < g.rows) return;
    const auto parity = static_cast<uint32_t>(c.row - g.rows);
    const uint32_t done = done_by(*l, i * g.parity + parity, p.length);
    const uint32_t from = p.old != nullptr ? 0 : done;
    const uint32_t to = p.old != nullptr ? done : p.length;
    codec::galois::multiply_into(bytes + at + from, p.delta + from,
                                 pool::coefficient_of(g, parity, p.offset), to - from);
  });
}

// PAGE-3: changes the page to the bytes that the holders of the stripe expect.
void page_repairer::finish_pieces(uint64_t page, bool is_parity, std::byte* bytes) const noexcept {
  using phase = pool::in_flight_write::phase;
  const auto in_page = [&](uint64_t at) { return at >= page && at < page + format::page; };
  const auto finish = [&](const pool::in_flight_write& h) {
    if (h.length == 0) return;
    // Which of several parities it is: their cells lie a row apart.
    const uint64_t k =
        is_parity ? (page - round_down(h.parity, format::page)) / s_.geo.row_size : 0;
    if (is_parity && in_page(h.parity + k * s_.geo.row_size)) {
      std::byte* to = bytes + (h.parity + k * s_.geo.row_size - page);
      const std::byte* fresh = h.fresh_parity + k * h.length;
      if (h.now == phase::parity && !h.shared) std::memcpy(to, fresh, h.length);
      if (h.now == phase::parity && h.shared) codec::xor_into(to, h.delta, h.done);
      if (h.now == phase::data) {
        // The rows still hold the old bytes, and the parity the new ones.
        if (h.shared)
          codec::xor_into(to, h.delta, h.length);
        else
          std::memcpy(to, fresh, h.length);
      }
    }
    if (!is_parity && in_page(h.data) && h.now == phase::data)
      std::memcpy(bytes + (h.data - page), h.fresh_data, h.length);
  };
  const pool::in_flight_write& mine = pool::this_thread_in_flight();
  if (!mine.shared) return finish(mine);
  for (const auto& p : parked_) {
    const pool::in_flight_write* h = p.load(std::memory_order_acquire);
    if (h != nullptr && h->pool == &s_ && h->stripe == mine.stripe) finish(*h);
  }
}

// Another page of the same column block that is known to be lost.
bool page_repairer::other_loss(uint64_t page, uint64_t& second) const noexcept {
  const pool::cell c = pool::cell_of(s_.geo, page);
  const uint64_t first = s_.geo.zone_offset(c.zone) + round_down(c.column, format::page);
  const uint64_t used_end =
      s_.geo.zone_offset(c.zone) + s_.used_end[c.zone].load(std::memory_order_acquire);
  for (uint64_t row = 0; row < s_.geo.rows + s_.geo.parity; ++row) {
    const uint64_t at = first + row * s_.geo.row_size;
    if (row < s_.geo.rows && at >= used_end) continue;  // never used: counts as zeros
    if (at == page || !s_.medium->is_revoked(at)) continue;
    if (row < s_.geo.rows && s_.overlaid.lent(at, format::page)) continue;
    second = at;
    return true;
  }
  return false;
}

void page_repairer::condemn(uint64_t page, desk& d, scute_finder finder) noexcept {
  std::memset(d.page, static_cast<int>(lost_byte), format::page);
  const pool::cell c = pool::cell_of(s_.geo, page);
  s_.overlaid.renew(page, d.page, format::page);  // PAGE-4
  finish_pieces(page, c.row >= s_.geo.rows, d.page);
  if (s_.medium->restore_page(d.w, page, d.page)) notes.remove(d.w, page);
  s_.lost.fetch_add(1, std::memory_order_relaxed);
  s_.events.post({SCUTE_EVENT_PAGE, SCUTE_OUTCOME_LOST, finder, page, format::page});
  name_losses(page, nullptr, finder);
}

void page_repairer::name_losses(uint64_t page, const pool::resolver::page_bytes* undecodable,
                                scute_finder finder) noexcept {
  if (pool::cell_of(s_.geo, page).row >= s_.geo.rows) return;
  scute_oid last = 0;
  // The chunk header that describes the page may be lost as well; then nothing says what was here.
  until_second_loss([&] {
    for_each_fragment(s_, page, [&](const fragment_in_page& f) {
      if (f.object == 0 || f.object == last) return;
      const auto hit = [&](uint64_t from, uint64_t n) {
        for (uint64_t at = std::max(from, page); at < std::min(from + n, page + format::page); ++at)
          if ((*undecodable)[at - page]) return true;
        return false;
      };
      if (undecodable != nullptr && !hit(f.fragment.header, format::header_size) &&
          !hit(f.fragment.payload, f.fragment.room))
        return;
      last = f.object;
      s_.events.post({SCUTE_EVENT_OBJECT, SCUTE_OUTCOME_LOST, finder, f.fragment.header,
                      format::header_size + f.fragment.room, f.object});
    });
  });
}

void page_repairer::forget_suspects(medium::writer& w) noexcept {
  for (uint32_t i = 0; i < suspect_count(); ++i)
    if (!s_.medium->is_revoked(suspect_pages_[i])) notes.remove(w, suspect_pages_[i]);
  suspects_.store(0);
}

void page_repairer::lose(uint64_t page, const std::byte* noise) {
  const bool in_zone = page >= s_.geo.zones_offset && page < s_.geo.zones_end();
  // If a log-free transaction has a column open until its second fence, another loss in that column
  // prevents rolling it back or finishing it after a crash. A drill, which is one failure at a
  // time, waits for the transaction.
  const bool alone = in_zone && s_.parity_is_log;
  const pool::cell c = in_zone ? pool::cell_of(s_.geo, page) : pool::cell{};
  const uint32_t stripe = pool::stripes::index(c.zone, c.column / pool::column_block);
  if (alone) s_.locks.lock_exclusive(stripe);
  // A page cannot be lost on purpose while its columns cannot decode it (PAGE-9).
  if (in_zone && s_.has_parity && !alone && s_.resolving->pending())
    s_.resolving->before_write(page, format::page);
  bool noted = true;
  // Without parity no reader looks for notes of pages in the zones. Damaged log pages are
  // recognized by their content.
  if (in_zone && s_.has_parity) {
    const desk_guard d(desks_);
    noted = notes.add(d->w, page);
  }
  if (noted || s_.has_checksums) s_.medium->lose_page(page, noise);
  if (alone) s_.locks.unlock_exclusive(stripe);
  if (!noted && !s_.has_checksums)
    throw failure(SCUTE_E_NOSPC,
                  s_.path +
                      ": the list of lost pages is full, and without checksums of objects nothing "
                      "else would reveal another one; rebuild them first (scute_scrub)");
}

}  // namespace scute::core::repair
