// SPDX-License-Identifier: BSD-3-Clause
#include "pow/recovery/decision.hpp"

#include <algorithm>
#include <set>

namespace scute::core::pow {
namespace {

enum class batch_outcome : uint8_t { whole, aborted, torn };

struct batch {
  std::vector<size_t> frames;  // of `waiting`
  batch_outcome what = batch_outcome::torn;
  const waiting_frame* decides = nullptr;  // that names others
};
using lane_batches = std::map<uint64_t, batch>;

void look(batch& b, const std::vector<waiting_frame>& waiting) {
  std::set<uint32_t> parts;
  for (const size_t i : b.frames) {
    const waiting_frame& f = waiting[i];
    if (f.kind == frame_kind::part) {
      parts.insert(f.part);
      continue;
    }
    b.decides = &f;
  }
  if (b.decides == nullptr) return;
  const waiting_frame& d = *b.decides;
  if (d.kind == frame_kind::abort)
    b.what = batch_outcome::aborted;
  else if (d.kind != frame_kind::commit || parts.size() == d.parts)
    b.what = batch_outcome::whole;
}

}  // namespace

decision decide(const std::vector<waiting_frame>& waiting,
                const std::map<lane_key, uint64_t>& confirmed, const file_head& old) {
  decision d;
  d.counts.assign(waiting.size(), false);
  d.dropped.assign(waiting.size(), false);
  std::map<lane_key, lane_batches> lanes;
  for (size_t i = 0; i < waiting.size(); ++i)
    lanes[{waiting[i].session, waiting[i].lane}][waiting[i].number].frames.push_back(i);
  for (auto& [key, batches] : lanes)
    for (auto& [number, b] : batches) look(b, waiting);

  // Sessions decided before: all their batches count, except those after a last valid one.
  const auto decided_up_to = [&](const lane_key& key) {
    for (uint32_t i = 0; i < old.last_valid_count; ++i)
      if (old.last_valid[i].session == key.first && old.last_valid[i].lane == key.second)
        return old.last_valid[i].number;
    return UINT64_MAX;
  };
  std::map<lane_key, uint64_t> known = confirmed;
  for (const auto& [key, batches] : lanes) known.try_emplace(key, 0);
  for (auto& [key, number] : known) {
    if (key.first <= old.decided) {
      d.kept[key] = decided_up_to(key);
      continue;
    }
    uint64_t up_to = number;
    if (const auto there = lanes.find(key); there != lanes.end()) {
      for (auto at = there->second.upper_bound(number); at != there->second.end(); ++at) {
        if (at->first != up_to + 1 || at->second.what == batch_outcome::torn) break;
        up_to = at->first;
      }
    } else if (there != lanes.end() && !there->second.empty()) {
      up_to = there->second.rbegin()->first;
    }
    d.kept[key] = up_to;
  }
  // Repeatedly drops batches that name one that does not count, until nothing changes.
  for (bool changed = true; changed;) {
    changed = false;
    for (auto& [key, up_to] : d.kept) {
      if (key.first <= old.decided) continue;
      const auto there = lanes.find(key);
      if (there == lanes.end()) continue;
      for (auto at = there->second.upper_bound(known[key]);
           at != there->second.end() && at->first <= up_to; ++at) {
        const waiting_frame* const f = at->second.decides;
        const bool missing =
            f != nullptr && std::ranges::any_of(f->names, [&](const dependency& n) {
              const auto other = d.kept.find({key.first, n.lane});
              return n.number > (other == d.kept.end() ? 0 : other->second);
            });
        if (!missing) continue;
        up_to = at->first - 1;
        changed = true;
        break;
      }
    }
  }
  for (const auto& [key, batches] : lanes) {
    const uint64_t up_to = d.kept[key];
    bool any = false;
    for (const auto& [number, b] : batches) {
      const bool late = number > up_to;
      if (b.what == batch_outcome::aborted) d.aborted.insert({key, number});
      any = any || late;
      // Without a trailer it is unknown whether a batch counts. If it was durable, it is lost.
      const bool lost = !late && b.decides == nullptr;
      if (lost)
        d.damage.push_back({waiting[b.frames.front()].segment,
                            "the end of batch " + std::to_string(number) + " of lane " +
                                std::to_string(key.second) + ", session " +
                                std::to_string(key.first),
                            true, 0, 0, number, number});
      for (const size_t i : b.frames) {
        d.counts[i] = !late && !lost && b.what != batch_outcome::aborted;
        d.dropped[i] = late || lost;
      }
    }
    if (any) d.last_valid.push_back({key.first, up_to, key.second, 0});
  }
  return d;
}

}  // namespace scute::core::pow
