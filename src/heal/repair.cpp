// SPDX-License-Identifier: BSD-3-Clause
#include "heal/repair.hpp"

#include <cstring>
#include <string>
#include <vector>

#include "medium/planted.hpp"
#include "pool/columns.hpp"
#include "pool/optimistic.hpp"

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
  if (SCUTE_PLANTED(repair_check)) return pool::covered(s, f, h) != pool::not_covered;
  return pool::valid(s, f, h, image.data() + format::header_size);
}

// Finds the mixture of kept and decoded bytes that the checksum accepts (E1, E3); leaves it in
// image and returns true, or returns false.
bool assemble(const pool::state& s, const pool::fragment& f, const std::vector<unit>& units,
              const std::vector<std::byte>& kept, const std::vector<std::byte>& decoded,
              std::vector<std::byte>& image) {
  const auto mix = [&](unsigned mask) {
    for (size_t i = 0; i < units.size(); ++i) {
      const auto& from = (mask >> i & 1) != 0 ? decoded : kept;
      std::memcpy(image.data() + units[i].at, from.data() + units[i].at, units[i].length);
    }
  };
  const unsigned all = (1u << units.size()) - 1;
  for (unsigned mask = all; mask != 0; --mask) {  // everything decoded comes first
    if (SCUTE_PLANTED(repair_mixture) && mask != all) return false;
    mix(mask);
    if (image_valid(s, f, image)) return true;
  }
  if (SCUTE_PLANTED(repair_cut)) return false;
  // A scribble a row long ends, in this row or the one before or after, in the page column where
  // it began: one side of some byte of the page is damaged here, the other side there.
  for (unsigned mask = 0; mask <= all; ++mask) {
    for (size_t i = 0; i < units.size(); ++i) {
      mix(mask);
      const auto& other = (mask >> i & 1) != 0 ? kept : decoded;
      // Bytes move over from the front one by one; where both agree nothing is gained by a test.
      for (size_t k = units[i].at; k < units[i].at + units[i].length; ++k) {
        if (image[k] == other[k]) continue;
        image[k] = other[k];
        if (image_valid(s, f, image)) return true;
      }
    }
  }
  return false;
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
  const auto look = [&](std::vector<std::byte>& to) {
    const pool::optimistic_reads mark;
    for (const unit& u : units) {
      std::memcpy(to.data() + u.at, s_.at(u.offset), u.length);
      s_.overlaid.patch(u.offset, to.data() + u.at, u.length);
    }
  };
  // E4: what looks damaged may be a commit in the middle of its work, if the caller reads without
  // the lock that it should hold. Then the bytes change under our eyes, and settle down.
  for (int attempt = 0;; ++attempt) {
    look(kept);
    for (const unit& u : units) pool::decode(s_, u.offset, decoded.data() + u.at, u.length);
    if (assemble(s_, f, units, kept, decoded, image)) break;
    look(image);
    if (image_valid(s_, f, image)) return;
    if (attempt < 100 && image != kept) continue;
    if (by != nullptr) by->w.count.losses.add(1);
    give_up(f, what, "its columns hold more damage than one row of parity can mend");
  }
  format::fragment_header h;
  std::memcpy(&h, image.data(), sizeof h);
  size_t sure = format::header_size + pool::covered(s_, f, h);
  // Without checksums of payloads, the payload beside a lost header was probably lost with it, and
  // where it was not, its columns decode to what it is.
  if (!s_.has_checksums && format::meta_state(h.meta) == format::state::live)
    sure = format::header_size + std::min<uint64_t>(format::meta_size(h.meta), f.room);
  const auto restore = [&](medium::writer& w) {
    for (const unit& u : units) {
      if (u.at >= sure) continue;
      const size_t n = std::min(u.length, sure - u.at);
      std::byte* bytes = image.data() + u.at;
      std::byte* damaged = kept.data() + u.at;
      if (std::memcmp(bytes, damaged, n) == 0) continue;
      // What a transaction stored in place is its own business, and stays.
      if (!SCUTE_PLANTED(repair_in_place)) s_.overlaid.unpatch(u.offset, bytes, s_.at(u.offset), n);
      s_.overlaid.unpatch(u.offset, damaged, s_.at(u.offset), n);
      pool::write_back(s_, w, u.offset, damaged, bytes, n);
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
}

}  // namespace scute::heal
