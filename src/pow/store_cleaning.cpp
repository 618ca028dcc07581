// SPDX-License-Identifier: BSD-3-Clause
// Cleans an open file (pow/store.hpp).
#include <algorithm>
#include <chrono>
#include <system_error>

#include "pow/store.hpp"

namespace scute::core::pow {

void store::begin_background(uint64_t rate) {
  try {
    thread_ = std::thread([this, rate] { clean_in_background(rate); });
  } catch (const std::system_error&) {
    throw failure(SCUTE_E_NOMEM, "the thread that cleans " + s_.name +
                                     " cannot be started; open it without a cleaner");
  }
}

void store::end_background() noexcept {
  if (!thread_.joinable()) return;
  {
    const locked guard(sleep_lock_);
    ending_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

int store::clean_for_room(state& s, need kept, uint64_t enough) {
  const locked guard(s.clean_lock);
  if (s.space->free_count() >= enough) return 2;
  const int cleaned = s.cleans->take_for(kept);
  if (s.groups != nullptr && s.space->unsealed() >= members_max)
    s.groups->make(s.lane_at(cleaner_lane).w, false);
  return cleaned;
}

uint64_t store::clean(uint64_t most) {
  refuse_if_read_only();
  uint64_t n = 0;
  for (unsigned in_vain = 0; n < most && in_vain < cleaned_in_vain_max; ++n) {
    const int cleaned = clean_for_room(s_, need::ordinary, UINT64_MAX);
    if (cleaned == 0) break;
    in_vain = cleaned == 2 ? 0 : in_vain + 1;
  }
  return n;
}

void store::compact(const progress_fn& progress) {
  const uint64_t segments = s_.space->count();
  const auto report = [&](uint64_t done) {
    if (progress) progress(std::min(done, 2 * segments), 2 * segments);
  };
  s_.end_idle_segments(state::idle::any);
  for (uint64_t done = 0; clean(1) != 0 && done < 2 * segments; ++done)
    report(std::min(done, segments));
  s_.end_idle_segments(state::idle::any);
  {
    const locked guard(s_.clean_lock);
    s_.lane_at(cleaner_lane).end_segment();
  }
  for (uint64_t victim = segments; victim-- != 0;) {
    report(2 * segments - victim);
    const locked guard(s_.clean_lock);
    const segment_note& n = s_.space->note(static_cast<uint32_t>(victim));
    if (s_.space->prefer_low() >= victim) break;
    if (n.what.load() == use::seal) {
      // Its group gets another seal further down. Before that, the seal rebuilds the members that
      // it can.
      s_.groups->repair(s_.lane_at(cleaner_lane).w, static_cast<uint32_t>(victim));
      s_.groups->give_up(s_.lane_at(cleaner_lane).w, static_cast<uint32_t>(victim));
      continue;
    }
    if (n.what.load() != use::full || n.pinned.load() || n.damaged.load() ||
        n.after.load() != nowhere)
      continue;
    cleaner_->take(static_cast<uint32_t>(victim), need::cleaning);
  }
  report(2 * segments);
  const locked guard(s_.clean_lock);
  s_.space->prefer_low();
  seal_all();
  s_.shrink(s_.lane_at(cleaner_lane).w);
}

void store::clean_in_background(uint64_t rate) {
  using clock = std::chrono::steady_clock;
  constexpr auto nap_least = std::chrono::milliseconds(20), nap_most = 32 * nap_least;
  auto allowed = clock::now();
  auto nap = nap_least;
  uint64_t seen = 0;
  bool again = true;  // the last round has left something undone
  for (;;) {
    {
      const locked guard(sleep_lock_);
      if (ending_) return;
      wake_.wait_for(sleep_lock_, nap);
      if (ending_) return;
    }
    s_.count.rounds.fetch_add(1, std::memory_order_relaxed);
    // If no section writes there is nothing new to clean, however many segments there are.
    const uint64_t now = s_.batches();
    nap = now != seen ? nap_least : std::min(2 * nap, nap_most);
    if (now == seen && !again) continue;
    s_.count.rounds_at_work.fetch_add(1, std::memory_order_relaxed);
    seen = now;
    again = false;
    for (unsigned in_vain = 0; in_vain < cleaned_in_vain_max && s_.worth_cleaning();) {
      if (clock::now() < allowed) {
        again = true;
        nap = nap_least;
        break;
      }
      int cleaned = 0;
      const uint64_t before = s_.count.copied_bytes.load(std::memory_order_relaxed);
      try {
        cleaned = clean_for_room(s_, need::ordinary, UINT64_MAX);
        if (cleaned == 0 && !s_.end_idle_segments(state::idle::orphans)) break;
      } catch (const std::exception&) {
        again = true;
        break;  // no room, no memory, or a device that fails: the next commit reports it
      }
      in_vain = cleaned == 2 ? 0 : in_vain + 1;
      const uint64_t copied = s_.count.copied_bytes.load(std::memory_order_relaxed) - before;
      if (rate != 0)
        allowed = clock::now() + std::chrono::nanoseconds(copied * 1'000'000'000 / rate);
      const locked guard(sleep_lock_);
      if (ending_) return;
    }
  }
}

}  // namespace scute::core::pow
