// SPDX-License-Identifier: BSD-3-Clause
// Pool files as a power failure leaves them in the middle of a log-free commit, put together from
// what the file held before the transaction and after it.
#pragma once

#include <functional>
#include <map>

#include "support/pool_file.hpp"

namespace scute::test {

// One engine logfree pool with known objects, in which a transaction is cut short.
class crash_image : public pool_file {
 public:
  explicit crash_image(uint64_t size = 2 * mib, scute_checksum c = SCUTE_CHECKSUM_CRC32C,
                       uint32_t parities = 1, uint32_t chunk = 16384) {
    scute_options o = options(size, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_LOGFREE, parities}, c);
    o.rows = 4;
    o.lanes = 4;
    o.chunk_size = chunk;
    create(o);
    g = in().s.geo;
  }

  scute_oid add(const bytes& content) {
    const scute_oid oid = alloc(content);
    EXPECT_NE(oid, 0u) << scute_errormsg();
    before[oid] = content;
    place(oid);
    return oid;
  }
  // The file with nothing deferred.
  bytes file() {
    EXPECT_EQ(SCUTE_OK, scute_drain(pool));
    return read_file(path);
  }
  // Takes down what the file holds before and after a transaction, which must be log-free. `change`
  // leaves in `after` what the objects hold then.
  void cut(const std::function<void(scute_tx*, std::map<scute_oid, bytes>&)>& change) {
    old_file = file();
    after = before;
    const auto logged = stats().logged;
    transaction tx(pool);
    change(tx, after);
    SCUTE_OKAY(tx.commit());
    EXPECT_EQ(stats().logged, logged) << "the transaction went through the log";
    for (const auto& [oid, content] : after) place(oid);
    new_file = file();
    data.clear();
    parity.clear();
    for (uint64_t at = 0; at < g.file_size; at += 8) {
      if (std::equal(old_file.begin() + static_cast<long>(at),
                     old_file.begin() + static_cast<long>(at) + 8,
                     new_file.begin() + static_cast<long>(at)))
        continue;
      ASSERT_GE(at, g.zones_offset);
      const uint64_t inside = (at - g.zones_offset) % g.zone_size;
      (inside < g.data_size ? data : parity).push_back(at);
    }
  }
  // `take` from the file of after the transaction, all else from that of before.
  bytes with(const std::vector<uint64_t>& take) const {
    bytes image = old_file;
    for (const uint64_t at : take)
      std::copy_n(new_file.begin() + static_cast<long>(at), 8,
                  image.begin() + static_cast<long>(at));
    return image;
  }
  // The words of `of` in [offset, offset + n).
  static std::vector<uint64_t> within(const std::vector<uint64_t>& of, uint64_t offset,
                                      uint64_t n) {
    std::vector<uint64_t> found;
    for (const uint64_t at : of)
      if (at + 8 > offset && at < offset + n) found.push_back(at);
    return found;
  }
  // The data words of an object that the transaction changed, headers included.
  std::vector<uint64_t> words_of(scute_oid oid) const {
    const auto [header, n] = places.at(oid);
    return within(data, header, n);
  }

  // Loads the pool that opening finds after the power failed over that image.
  void load(const bytes& image, uint32_t flags = SCUTE_LAZY_RECOVERY) {
    scute_close(pool);
    pool = nullptr;
    write_file(path, image);
    open(flags);
  }
  void wait() { SCUTE_OKAY_E(scute_recovery_wait(pool, nullptr, nullptr)); }
  // All objects are these, and there are no others.
  void expect(const std::map<scute_oid, bytes>& objects) {
    for (const auto& [oid, content] : objects)
      EXPECT_TRUE(read(oid) == content) << "object at " << offset_of(oid);
    std::map<scute_oid, bytes> seen;
    scute_oid at = 0;
    for (int e = scute_first(pool, SCUTE_TYPE_ANY, &at); at != 0 && e == 0;
         e = scute_next(pool, at, SCUTE_TYPE_ANY, &at)) {
      EXPECT_EQ(objects.count(at), 1u) << "an object at " << offset_of(at);
      seen[at];
    }
    EXPECT_EQ(seen.size(), objects.size());
  }
  void expect_sound_with(const std::map<scute_oid, bytes>& objects) {
    wait();
    expect(objects);
    expect_sound();
    reopen();
    EXPECT_EQ(info().unresolved, 0u);
    expect(objects);
    expect_sound();
  }

  pool::geometry g;
  std::map<scute_oid, bytes> before, after;
  bytes old_file, new_file;
  std::vector<uint64_t> data, parity;  // words that the transaction changed
  // Where headers and payload of an object begin, and their length.
  std::map<scute_oid, std::pair<uint64_t, uint64_t>> places;

 private:
  void place(scute_oid oid) {
    const heap::object o = in().heap->zones().locate(offset_of(oid));
    places[oid] = {o.header, o.payload + o.room - o.header};
  }
};

}  // namespace scute::test
