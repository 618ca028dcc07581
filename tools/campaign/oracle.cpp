// SPDX-License-Identifier: BSD-3-Clause
#include "oracle.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace scute_campaign {

namespace {

constexpr uint64_t page = 4096, superblock_size = 512, header_size = 32, metadata_size = 64;
constexpr uint64_t gap = 64;
constexpr uint64_t clusters_max = 3;
constexpr std::byte nothing{};

}  // namespace

oracle::oracle(const layout& where)
    : where_(where),
      first_(where.file_size),
      own_(where.file_size),
      damaged_cells_(where.row_size),
      any_(where.row_size),
      buried_(where.row_size),
      by_header_(where.fragments.size()) {
  std::iota(by_header_.begin(), by_header_.end(), 0);
  by_payload_ = by_header_;
  std::sort(by_header_.begin(), by_header_.end(), [&](uint32_t a, uint32_t b) {
    return where.fragments[a].header < where.fragments[b].header;
  });
  std::sort(by_payload_.begin(), by_payload_.end(), [&](uint32_t a, uint32_t b) {
    return where.fragments[a].payload < where.fragments[b].payload;
  });
}

void oracle::forget(const std::vector<error>& errors) {
  for (const error& e : errors)
    for (uint64_t at = e.offset; at < e.offset + e.length; ++at) {
      first_[at] = own_[at] = nothing;
      if (at >= where_.zone && at < where_.parity_end())
        damaged_cells_[column(at)] = 0, any_[column(at)] = nothing;
    }
}

void oracle::mark_damaged_fragments(const std::vector<error>& errors) {
  damaged_.clear();
  const auto find = [&](const std::vector<uint32_t>& order, uint64_t offset, auto&& begin,
                        auto&& length) {
    auto it = std::upper_bound(order.begin(), order.end(), offset, [&](uint64_t o, uint32_t i) {
      return o < begin(where_.fragments[i]);
    });
    if (it == order.begin()) return;
    const fragment& f = where_.fragments[*--it];
    if (offset < begin(f) + length(f)) damaged_.push_back(*it);
  };
  for (const error& e : errors) {
    find(
        by_header_, e.offset, [](const fragment& f) { return f.header; },
        [](const fragment&) { return header_size; });
    find(
        by_payload_, e.offset, [](const fragment& f) { return f.payload; },
        [](const fragment& f) { return uint64_t{f.covered}; });
  }
  std::sort(damaged_.begin(), damaged_.end());
  damaged_.erase(std::unique(damaged_.begin(), damaged_.end()), damaged_.end());
}

bool oracle::touched(uint64_t offset) const noexcept {
  return first_[offset] != nothing || (in_rows(offset) && any_[column(offset)] != nothing);
}

// A cluster and what else is known of the fragment, byte by byte.
bool oracle::survivable(const fragment& f) const {
  if (where_.parity == 0) return false;
  bool pages_pure = true, clusters_pure = true;
  uint64_t weight = 0;
  const auto look = [&](uint64_t begin, uint64_t end) {
    bool page_own = false, page_others = false;
    uint64_t first = 0, last = 0;  // of the cluster that is being followed
    bool open = false, own_here = false, others_here = false;
    const auto close = [&] {
      if (!open) return;
      clusters_pure = clusters_pure && !(own_here && others_here);
      weight += own_here ? 1 : 1 + (last - first) / gap;
      open = own_here = others_here = false;
    };
    for (uint64_t at = begin; at < end; ++at) {
      const bool own = own_[at] != nothing;
      const bool others = damaged_cells_[column(at)] > (own ? 1 : 0);
      if (!own && !others) continue;
      if (open && at - last > gap) close();
      if (!open) first = at;
      open = true;
      last = at;
      own_here = own_here || own;
      others_here = others_here || others;
      page_own = page_own || own;
      page_others = page_others || others;
    }
    close();
    pages_pure = pages_pure && !(page_own && page_others);
  };
  look(f.header, f.header + header_size);
  for (uint64_t at = f.payload, end = f.payload + f.covered; at < end;) {
    const uint64_t next = std::min(end, at / page * page + page);
    look(at, next);
    at = next;
  }
  return pages_pure || (clusters_pure && weight <= clusters_max);
}

bool oracle::descriptor_survives(const fragment& f) const {
  bool own = false, others = false;
  for (uint64_t i = 0; i < metadata_size; ++i) own = own || own_[f.header + i] != nothing;
  for (uint64_t r = 1; r < where_.rows + where_.parity; ++r)
    for (uint64_t i = 0; i < metadata_size; ++i)
      others = others || own_[f.header + r * where_.row_size + i] != nothing;
  return !own || (where_.parity != 0 && !others);
}

std::string oracle::describe(uint32_t object) const {
  std::string text;
  for (const uint32_t i : damaged_) {
    const fragment& f = where_.fragments[i];
    if (f.owner != object && i != 2 + where_.objects[object].chunk) continue;
    text += fmt::format("  {} at {:#x}:\n", f.owner == structure ? "chunk header" : "fragment",
                        f.header);
    const auto note = [&](const char* what, uint64_t begin, uint64_t end) {
      for (const error& e : last_) {
        if (e.offset < where_.zone || e.offset >= where_.parity_end()) continue;
        for (uint64_t at = begin; at < end; ++at)
          if (column(at) == column(e.offset))
            text += fmt::format("    {} +{}: {} byte(s) of {} row {} at {:#x}{}{}\n", what,
                                at - begin, e.length, e.offset == at ? "its own" : "another",
                                (e.offset - where_.zone) / where_.row_size, e.offset,
                                e.offset >= where_.used_end && e.offset < where_.parity_begin()
                                    ? ", never used"
                                    : "",
                                own_[e.offset] == nothing ? ", repaired" : "");
      }
    };
    note("header", f.header, f.header + header_size);
    note("payload", f.payload, f.payload + f.covered);
  }
  return text;
}

bool oracle::buried(const fragment& f) const {
  for (uint64_t at = f.header; at < f.header + header_size; ++at)
    if (buried_[column(at)] != 0) return true;
  return false;
}

void oracle::bury(int by) {
  for (const uint32_t i : damaged_) {
    const fragment& f = where_.fragments[i];
    for (uint64_t at = f.payload; at < f.payload + f.beside; ++at)
      buried_[column(at)] += static_cast<uint32_t>(by);
  }
}

void oracle::repair(const fragment& f) {
  const auto clear = [&](uint64_t begin, uint64_t n) {
    for (uint64_t at = begin; at < begin + n; ++at) {
      if (own_[at] != nothing) --damaged_cells_[column(at)];
      own_[at] = nothing;
    }
  };
  clear(f.header, header_size);
  clear(f.payload, f.covered);
}

prediction oracle::predict(const std::vector<error>& errors) {
  bury(-1);
  forget(last_);
  last_ = errors;
  for (const error& e : errors)
    for (uint64_t at = e.offset; at < e.offset + e.length; ++at) {
      const bool again = own_[at] != nothing;  // another bit of it
      first_[at] ^= e.ones;
      own_[at] ^= e.ones;
      if (at < where_.zone || at >= where_.parity_end()) continue;
      any_[column(at)] |= e.ones;
      if (!again && (at < where_.used_end || at >= where_.parity_begin()))
        ++damaged_cells_[column(at)];
    }
  mark_damaged_fragments(errors);
  bury(1);

  prediction v;
  for (const uint64_t at : {uint64_t{0}, page, where_.file_size - page})
    v.opens = v.opens || std::none_of(first_.begin() + static_cast<ptrdiff_t>(at),
                                      first_.begin() + static_cast<ptrdiff_t>(at + superblock_size),
                                      [](std::byte b) { return b != nothing; });
  const auto covered = [&](const error& e) {
    for (uint64_t i = 0; i < e.length; ++i) {
      const uint64_t at = e.offset + i;
      const bool in_zone = at >= where_.zone && at < where_.parity_end();
      if (in_zone && damaged_cells_[column(at)] > where_.parity) return false;
    }
    return true;
  };
  v.within = v.opens && std::all_of(errors.begin(), errors.end(), covered);
  std::vector<bool> sound(where_.fragments.size(), true);
  for (const uint32_t i : damaged_) sound[i] = false;
  const bool zone_opens = descriptor_survives(where_.fragments[0]);
  for (bool more = zone_opens; more;) {
    more = false;
    for (const uint32_t i : damaged_) {
      const fragment& f = where_.fragments[i];
      if (sound[i] || buried(f) || !survivable(f)) continue;
      // Nothing of an object is looked at while its chunk's header is lost, and of its fragments
      // none but the first while that one is lost.
      const uint32_t owner = f.owner;
      if (owner != structure && !sound[2 + where_.objects[owner].chunk]) continue;
      if (owner != structure && !sound[where_.objects[owner].first] &&
          i != where_.objects[owner].first)
        continue;
      repair(f);
      sound[i] = true;
      more = true;
    }
  }
  v.survives.assign(where_.objects.size(), v.opens && zone_opens);
  for (size_t i = 0; i < where_.fragments.size(); ++i)
    if (const uint32_t owner = where_.fragments[i].owner; owner != structure)
      v.survives[owner] = v.survives[owner] && sound[i] && sound[where_.objects[owner].first] &&
                          sound[2 + where_.objects[owner].chunk];
  v.survivors = static_cast<uint64_t>(std::count(v.survives.begin(), v.survives.end(), true));
  return v;
}

}  // namespace scute_campaign
