// SPDX-License-Identifier: BSD-3-Clause
#include "heal/repair.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "pool/columns.hpp"

namespace scute::heal {
namespace {

// A part of a fragment that lies in one page of the file, which is lost or kept as a whole.
struct unit {
  uint64_t offset;  // in the file
  size_t at;        // in the image of header and payload
  size_t length;
};

std::vector<unit> units_of(const pool::fragment& f) {
  std::vector<unit> units{{f.header, 0, format::header_size}};
  uint64_t offset = f.payload;
  size_t at = format::header_size;
  for (uint64_t left = f.room; left != 0;) {
    const uint64_t n = std::min(left, format::page - offset % format::page);
    units.push_back({offset, at, n});
    offset += n;
    at += n;
    left -= n;
  }
  return units;
}

bool image_valid(const pool::state& s, const pool::fragment& f,
                 const std::vector<std::byte>& image) {
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  return pool::valid(s, f, h, image.data() + format::header_size);
}

}  // namespace

void column_repairer::give_up(const pool::fragment& f, const char* what, const std::string& why) {
  s_.lost.fetch_add(1, std::memory_order_relaxed);
  throw failure(SCUTE_E_CORRUPT,
                s_.path + ": " + what + " at file offset " + std::to_string(f.header) +
                    (f.index != 0 ? " (fragment " + std::to_string(f.index) + ")" : "") +
                    " is damaged and cannot be rebuilt: " + why +
                    ". The rest of the pool stays usable; `scute check` lists all losses");
}

void column_repairer::repair(pool::lane* by, const pool::fragment& f, const char* what) {
  const std::lock_guard hold(busy_[f.header / 64 % busy_.size()]);
  if (pool::valid(s_, f)) return;  // another thread was faster
  if (!s_.has_parity) {
    if (by != nullptr) by->w.count.losses.add(1);
    give_up(f, what, "the pool has no parity (protection below mlp)");
  }

  const std::vector<unit> units = units_of(f);
  const size_t size = units.back().at + units.back().length;
  std::vector<std::byte> kept(size), decoded(size), image(size);
  for (const unit& u : units) {
    std::memcpy(kept.data() + u.at, s_.at(u.offset), u.length);
    pool::decode(s_, u.offset, decoded.data() + u.at, u.length);
  }
  const unsigned all = (1u << units.size()) - 1;
  for (unsigned mask = all; mask != 0; --mask) {  // E3; everything decoded comes first
    for (size_t i = 0; i < units.size(); ++i) {
      const auto& from = (mask >> i & 1) != 0 ? decoded : kept;
      std::memcpy(image.data() + units[i].at, from.data() + units[i].at, units[i].length);
    }
    if (!image_valid(s_, f, image)) continue;  // E1
    format::fragment_header h;
    std::memcpy(&h, image.data(), sizeof h);
    // Payload that the header does not vouch for may be anything, decoded or kept: leave it.
    const size_t vouched = format::header_size + pool::covered(s_, f, h);
    const auto restore = [&](medium::writer& w) {
      for (size_t i = 0; i < units.size(); ++i) {
        if ((mask >> i & 1) == 0 || units[i].at >= vouched) continue;
        const size_t n = std::min(units[i].length, vouched - units[i].at);
        pool::write_back(s_, w, units[i].offset, image.data() + units[i].at, n);
      }
      w.fence();
      w.count.heals.add(1);
    };
    if (by != nullptr) {
      restore(by->w);
    } else {
      const std::lock_guard service(s_.service_mutex);
      restore(*s_.service);
    }
    s_.require_healthy();
    s_.repaired.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  if (by != nullptr) by->w.count.losses.add(1);
  give_up(f, what, "its columns hold more damage than one row of parity can mend");
}

}  // namespace scute::heal
