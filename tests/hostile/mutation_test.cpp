// SPDX-License-Identifier: BSD-3-Clause
// Pool files with arbitrary bytes in them. Nothing in a file may make the library crash, hang or
// leave the mapping (POOL-9): every outcome is an error or a pool that works.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "codec/checksum/crc32c.hpp"
#include "core/engine/common/lane_log.hpp"
#include "core/shared/pool/superblock.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
using namespace core;
namespace {

// Makes calls that a program might make on a pool, whatever it holds. Results do not matter.
void exercise(scute_pool* pool, random_source& random) {
  std::vector<scute_oid> oids;
  scute_oid oid = 0;
  uint64_t steps = 0;
  for (int e = scute_first(pool, SCUTE_TYPE_ANY, &oid); e == 0 && oid != 0 && steps < 10000;
       ++steps) {
    if (oids.size() < 200) oids.push_back(oid);
    e = scute_next(pool, oid, SCUTE_TYPE_ANY, &oid);
  }
  ASSERT_LT(steps, 10000u) << "the enumeration does not end";
  for (int i = 0; i < 20; ++i)
    oids.push_back((uint64_t{pool->in->s.sb.tag} << 48) +
                   random.between(0, pool->in->s.geo.file_size));
  uint64_t sum = 0;
  for (const scute_oid o : oids) {
    const void* p = nullptr;
    uint64_t size = 0, usable = 0;
    uint32_t type = 0;
    scute_object_info(pool, o, &size, &usable, &type);
    if (scute_get_verified(pool, o, &p) != 0) continue;
    for (uint64_t i = 0; i < size; i += 509) sum += static_cast<const unsigned char*>(p)[i];
  }
  ASSERT_NE(sum, UINT64_MAX);
  scute_root(pool, 16, 1, &oid);
  for (int i = 0; i < 20; ++i) {
    scute_tx* tx = nullptr;
    if (scute_tx_begin(pool, &tx) != 0) break;
    for (int k = 0; k < 5; ++k) {
      const scute_oid o = oids[random.between(0, oids.size() - 1)];
      void* p = nullptr;
      const void* q = nullptr;
      uint64_t size = 0;
      switch (random.between(0, 5)) {
        case 0:
          if (scute_tx_alloc(tx, random.size(30000), 3, &oid, &p) == 0) std::memset(p, 5, 1);
          break;
        case 1: scute_tx_free(tx, o); break;
        case 2:
          if (scute_object_info(pool, o, &size, nullptr, nullptr) == 0 &&
              scute_tx_open(tx, o, &p) == 0)
            static_cast<unsigned char*>(p)[0] ^= 1;
          break;
        case 3:
          if (scute_tx_add_range(tx, o, random.between(0, 5000), 1, &p) == 0)
            *static_cast<unsigned char*>(p) ^= 1;
          break;
        case 4:
          if (scute_tx_inplace(tx, o, random.between(0, 500), 3, &p) == 0) std::memset(p, 1, 3);
          break;
        default: scute_tx_get(tx, o, &q);
      }
    }
    if (random.one_in(3))
      scute_tx_abort(tx);
    else
      scute_tx_commit(tx);
  }
  scute_location where{};
  where.struct_size = sizeof where;
  for (int i = 0; i < 50; ++i)
    scute_locate(pool, random.between(0, pool->in->s.geo.file_size), &where);
  scute_visit_chunks(pool, [](void*, const scute_chunk_info*) { return 0; }, nullptr);
  scute_info info{};
  info.struct_size = sizeof info;
  scute_pool_info(pool, &info);
  scute_report report{};
  report.struct_size = sizeof report;
  scute_check(pool, 0, &report, nullptr, nullptr, nullptr);
  scute_check(pool, 1, &report, nullptr, nullptr, nullptr);
}

class mutation : public testing::Test {
 protected:
  static constexpr uint64_t size = mib;

  void SetUp() override {
    // An image with everything in it: objects of all kinds, a live log, undo entries, lent chunks.
    pool_file f;
    scute_options o = options(size);
    o.lanes = 4;
    f.create(o);
    scute_oid root = 0;
    SCUTE_OKAY(scute_root(f, 100, 1, &root));
    std::vector<scute_oid> oids;
    for (const size_t n : {10, 100, 100, 100, 1000, 4096, 5000, 9000, 20000, 40000})
      oids.push_back(f.alloc(pattern(n, n)));
    f.free(oids[2]);
    f.close();
    clean = read_file(f.path);
    f.open();
    g = f.in().s.geo;
    scute_tx* tx = nullptr;
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_begin(f, &tx));
    SCUTE_OKAY(scute_tx_inplace(tx, oids[4], 0, 100, &p));
    std::memset(p, 1, 100);
    SCUTE_OKAY(scute_tx_inplace(tx, oids[9], 5000, 30000, &p));  // its undo entry is chained
    std::memset(p, 1, 30000);
    crashed = read_file(f.path);
    SCUTE_OKAY(scute_tx_commit(tx));
  }

  void patch_superblock(bytes& b, unsigned copy, random_source& random) {
    format::superblock sb;
    const uint64_t at = g.superblock_offset(copy);
    std::memcpy(&sb, b.data() + at, sizeof sb);
    auto* raw = reinterpret_cast<unsigned char*>(&sb);
    if (random.one_in(2))
      raw[random.between(8, 240)] ^= static_cast<unsigned char>(1u << random.between(0, 7));
    else
      raw[random.between(8, 240)] = static_cast<unsigned char>(random.word());
    if (random.one_in(2)) sb.sequence += 10;
    sb.checksum = pool::superblock_checksum(sb);
    std::memcpy(b.data() + at, &sb, sizeof sb);
  }
  // Changes a metadata object in place and makes its checksum right again.
  void patch_metadata(bytes& b, uint64_t at, random_source& random) {
    b[at + random.between(4, 63)] =
        static_cast<unsigned char>(random.one_in(2) ? random.word() : random.between(0, 4));
    const uint32_t sum = pool::bind(
        codec::crc32c(codec::crc32c(0, b.data() + at + 32, 32), b.data() + at + 4, 28), at);
    std::memcpy(b.data() + at, &sum, 4);
  }
  void patch_fragment(bytes& b, uint64_t at, random_source& random) {
    b[at + random.between(4, 31)] = static_cast<unsigned char>(random.word());
    format::fragment_header h;
    std::memcpy(&h, b.data() + at, sizeof h);
    const uint64_t n = std::min<uint64_t>({format::meta_size(h.meta), 4096, b.size() - at - 32});
    h.checksum = pool::bind(codec::crc32c(codec::crc32c(0, b.data() + at + 32, n),
                                          reinterpret_cast<const unsigned char*>(&h) + 4, 28),
                            at);
    std::memcpy(b.data() + at, &h, sizeof h);
  }
  void patch_log(bytes& b, random_source& random) {
    const auto lane = static_cast<uint32_t>(random.between(0, g.lane_count - 1));
    const auto replica = static_cast<uint32_t>(random.between(0, g.lane_replicas - 1));
    const uint64_t base = g.lane_offset(lane, replica);
    std::vector<uint64_t> entries;
    format::log_entry e;
    for (uint64_t at = 64; at + sizeof e <= g.lane_size; at += 64) {
      std::memcpy(&e, b.data() + base + at, sizeof e);
      if (e.magic == format::entry_magic && e.body_size <= g.lane_size - at - sizeof e)
        entries.push_back(base + at);
    }
    if (entries.empty()) return;
    const uint64_t at = entries[random.between(0, entries.size() - 1)];
    std::memcpy(&e, b.data() + at, sizeof e);
    const uint64_t end = sizeof e + std::min<uint64_t>(e.body_size, 200);
    b[at + random.between(8, end - 1)] = static_cast<unsigned char>(random.word());
    if (random.one_in(2)) e.sequence += 100;
    std::memcpy(&e, b.data() + at, sizeof e);
    const uint64_t room = base + g.lane_size - at - sizeof e;
    e.checksum = log::entry_checksum(reinterpret_cast<std::byte*>(b.data()) + at,
                                     sizeof e + std::min(e.body_size, room));
    std::memcpy(b.data() + at + 4, &e.checksum, 4);
  }

  void mutate(bytes& b, random_source& random) {
    const uint64_t changes = random.between(1, 4);
    for (uint64_t i = 0; i < changes; ++i) {
      switch (random.between(0, 9)) {
        case 0: patch_superblock(b, static_cast<unsigned>(random.between(0, 2)), random); break;
        case 1: patch_metadata(b, g.zone_offset(0), random); break;
        case 2: patch_metadata(b, g.zone_offset(0) + 64, random); break;
        case 3:
        case 4: patch_metadata(b, g.chunk_header_offset(0, random.between(0, 20)), random); break;
        case 5:
          patch_fragment(b, g.chunk_offset(0, random.between(0, 20)) + 32 * random.between(0, 100),
                         random);
          break;
        case 6: patch_log(b, random); break;
        case 7:
          b[random.between(0, b.size() - 1)] ^=
              static_cast<unsigned char>(1u << random.between(0, 7));
          break;
        case 8: {
          const uint64_t n = random.size(20000), at = random.between(0, b.size() - n);
          const bytes junk = pattern(random.word(), n);
          std::copy(junk.begin(), junk.end(), b.begin() + static_cast<long>(at));
          break;
        }
        default:
          if (random.one_in(4))
            b.resize(random.between(1, b.size()));
          else if (random.one_in(4))
            b.resize(b.size() + random.size(20000));
          else
            b[g.lanes_offset + random.between(0, g.zones_offset - g.lanes_offset - 1)] ^= 1;
          if (b.size() < size) return;
      }
    }
  }

  void run(const bytes& image, int rounds) {
    SCUTE_RANDOM(random);
    scratch dir;
    const std::string path = dir.file("mutant");
    int opened = 0;
    for (int round = 0; round < rounds; ++round) {
      SCOPED_TRACE("round " + std::to_string(round));
      bytes b = image;
      mutate(b, random);
      write_file(path, b);
      scute_options o = opening();
      o.flags = random.one_in(4) ? uint32_t{SCUTE_READONLY} : 0u;
      scute_pool* pool = nullptr;
      const int e = scute_open(path.c_str(), &o, &pool);
      if (e != SCUTE_OK) {
        EXPECT_TRUE(e == SCUTE_E_CORRUPT || e == SCUTE_E_FORMAT || e == SCUTE_E_VERSION ||
                    e == SCUTE_E_TRUNCATED)
            << scute_errorname(e) << ": " << scute_errormsg();
        continue;
      }
      ++opened;
      exercise(pool, random);
      scute_close(pool);
      if ((o.flags & SCUTE_READONLY) != 0) {
        EXPECT_TRUE(read_file(path) == b) << "a read-only open changed the file";
      }
      if (HasFatalFailure()) return;
    }
    EXPECT_GT(opened, rounds / 4);
  }

  bytes clean, crashed;
  pool::geometry g;
};

TEST_F(mutation, OfACleanPool) {
  run(clean, 700);
}
TEST_F(mutation, OfAPoolThatNeedsRecovery) {
  run(crashed, 700);
}

TEST_F(mutation, SuperblockFieldsWithTheirChecksumMadeRight) {
  scratch dir;
  const std::string path = dir.file("mutant");
  SCUTE_RANDOM(random);
  // Every byte of the fields, in all copies, to several values.
  for (size_t at = 8; at < 232; ++at)
    for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0xffu}) {
      bytes b = at % 2 == 0 ? clean : crashed;
      format::superblock sb;
      std::memcpy(&sb, b.data(), sizeof sb);
      reinterpret_cast<unsigned char*>(&sb)[at] ^=
          static_cast<unsigned char>(value == 0 ? 0x80 : value);
      sb.checksum = pool::superblock_checksum(sb);
      for (unsigned i = 0; i < 3; ++i)
        std::memcpy(b.data() + g.superblock_offset(i), &sb, sizeof sb);
      write_file(path, b);
      SCOPED_TRACE("byte " + std::to_string(at) + " ^ " + std::to_string(value));
      scute_options o = opening();
      scute_pool* pool = nullptr;
      const int e = scute_open(path.c_str(), &o, &pool);
      if (e == SCUTE_OK) {
        exercise(pool, random);
        scute_close(pool);
      } else {
        EXPECT_TRUE(e == SCUTE_E_CORRUPT || e == SCUTE_E_VERSION || e == SCUTE_E_TRUNCATED)
            << scute_errorname(e) << ": " << scute_errormsg();
      }
      if (HasFailure()) return;
    }
}

TEST_F(mutation, FilesOfRandomBytes) {
  SCUTE_RANDOM(random);
  scratch dir;
  const std::string path = dir.file("junk");
  for (int round = 0; round < 100; ++round) {
    write_file(path, pattern(random.word(), random.size(100000)));
    scute_options o = opening();
    scute_pool* pool = nullptr;
    SCUTE_FAILS(SCUTE_E_FORMAT, scute_open(path.c_str(), &o, &pool));
  }
}

}  // namespace
}  // namespace scute::test
