// SPDX-License-Identifier: BSD-3-Clause
#include "core/log/chain.hpp"

#include <algorithm>

#include "base/failure.hpp"

namespace scute::core::log {

format::log_chain write_chain(const chunk_space& space, medium::writer& w, const identity& whose,
                              uint64_t transaction, std::span<const std::byte> records,
                              const std::function<std::span<const uint64_t>(size_t)>& extend) {
  SCUTE_ASSERT(!records.empty());
  const uint64_t room = link_room(space.chunk_size);
  const uint64_t links = (records.size() + room - 1) / room;
  const uint64_t copies = space.copies;
  const std::span<const uint64_t> at = extend(links * copies);
  for (uint64_t i = 0; i < links; ++i) {
    format::log_link link{};
    const uint64_t begin = i * room;
    link.length = std::min<uint64_t>(room, records.size() - begin);
    link.transaction = transaction;
    link.index = i;
    link.pool_salt = whose.salt;
    link.epoch = whose.epoch;
    link.lane = whose.lane;
    if (i + 1 < links) {
      link.next = at[(i + 1) * copies];
      link.next_replica = copies > 1 ? at[(i + 1) * copies + 1] : 0;
    }
    link.checksum = link_checksum(link, records.data() + begin);
    for (uint64_t r = 0; r < copies; ++r) {
      std::byte* to = space.base + at[i * copies + r];
      w.stream(to, &link, sizeof link, medium::purpose::log);
      w.stream(to + sizeof link, records.data() + begin, link.length, medium::purpose::log);
    }
  }
  return {at[0], copies > 1 ? at[1] : 0, links, records.size()};
}

// Finds one link of a chain, in the first copy that is valid.
const std::byte* chain_reader::link_at(const format::log_entry& e, uint64_t index, uint64_t offset,
                                       uint64_t copy, format::log_link& link) {
  for (const uint64_t o : {offset, copy}) {
    if (o == 0 || !is_chunk_(o)) continue;
    const std::byte* at = space_.base + o;
    std::memcpy(&link, at, sizeof link);
    if (link.pool_salt != e.pool_salt || link.epoch != e.epoch || link.lane != e.lane ||
        link.transaction != e.transaction || link.index != index)
      continue;
    if (link.length > link_room(space_.chunk_size)) continue;
    if (sizeof link + link.length > left_) {
      exhausted_ = true;
      return nullptr;
    }
    left_ -= sizeof link + link.length;
    if (link.checksum != link_checksum(link, at + sizeof link)) continue;
    return at + sizeof link;
  }
  return nullptr;
}

chain_reader::outcome chain_reader::read(const format::log_entry& e, const format::log_chain& c,
                                         uint64_t links_max, uint64_t length_max,
                                         std::vector<std::byte>& records,
                                         std::vector<place>& places) {
  if (exhausted_) return outcome::exhausted;
  if (c.links == 0 || c.links > links_max || c.length > length_max) return outcome::invalid;
  records.clear();
  uint64_t offset = c.first, copy = c.first_replica;
  for (uint64_t i = 0; i < c.links; ++i) {
    format::log_link link;
    const std::byte* bytes = link_at(e, i, offset, copy, link);
    if (exhausted_) return outcome::exhausted;
    if (bytes == nullptr || records.size() + link.length > c.length) return outcome::invalid;
    records.insert(records.end(), bytes, bytes + link.length);
    for (const uint64_t o : {offset, copy})
      if (o != 0 && is_chunk_(o)) places.push_back({o, sizeof link + link.length});
    offset = link.next;
    copy = link.next_replica;
  }
  return records.size() == c.length ? outcome::valid : outcome::invalid;
}

}  // namespace scute::core::log
