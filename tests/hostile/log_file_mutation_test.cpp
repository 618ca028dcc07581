// SPDX-License-Identifier: BSD-3-Clause
// Made-up log files: bytes that changed, heads and frames with right checksums and wrong contents,
// files of any length. No byte of one makes the library do anything but open the pool or refuse it
// (F9).
#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "codec/checksum/crc32c.hpp"
#include "core/engine/speculative/log_file/log_in_file.hpp"
#include "core/log/segment.hpp"
#include "core/shared/pool/superblock.hpp"
#include "support/pool_file.hpp"
#include "support/seed.hpp"

namespace scute::test {
namespace {

using format::log_file_head;

class hostile_log {
 public:
  hostile_log() {
    scute_options o = how();
    f.create(o);
    for (unsigned i = 0; i < 6; ++i) oids.push_back(f.alloc(pattern(i, 100 + i * 700)));
    for (unsigned i = 0; i < 6; ++i) f.overwrite(oids[i], pattern(10 + i, 100 + i * 700));
    {
      transaction tx(f);
      void* p = nullptr;
      SCUTE_OKAY_E(scute_tx_inplace(tx, oids[4], 10, 900, &p));
      std::memset(p, 3, 900);
      f.in().abandon();
      scute_tx_abort(std::exchange(tx.tx, nullptr));
    }
    f.close();
    pool = read_file(f.path);
    log = read_file(f.path + ".log");
    std::memcpy(&head, log.data(), sizeof head);
    log_file_head other;
    std::memcpy(&other, log.data() + format::page, sizeof other);
    if (other.number > head.number) head = other;
    format::superblock sb;
    std::memcpy(&sb, pool.data(), sizeof sb);
    salt = pool::pool_salt(sb);
  }
  static scute_options how() {
    scute_options o = options(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.medium = SCUTE_MEDIUM_FILE;
    o.lanes = 4;
    return o;
  }

  // Opens it, and uses the pool if there is one.
  int attempt(const bytes& changed, uint32_t flags) {
    write_file(f.path, pool);
    write_file(f.path + ".log", changed);
    scute_options o = how();
    o.flags = flags;
    const int e = scute_open(f.path.c_str(), &o, &f.pool);
    if (e != SCUTE_OK) {
      EXPECT_STRNE("", scute_errormsg());
      EXPECT_TRUE(allowed.contains(e)) << scute_errorname(e) << ": " << scute_errormsg();
      f.pool = nullptr;
      return e;
    }
    scute_report r{};
    r.struct_size = sizeof r;
    static_cast<void>(scute_check(f.pool, flags == 0 ? 1 : 0, &r, nullptr, nullptr, nullptr));
    for (const scute_oid oid : oids) {
      const void* at = nullptr;
      static_cast<void>(scute_get_verified(f.pool, oid, &at));
    }
    if (flags == 0) {
      scute_tx* tx = nullptr;
      scute_oid fresh = 0;
      void* to = nullptr;
      if (scute_tx_begin(f.pool, &tx) == SCUTE_OK) {
        if (scute_tx_alloc(tx, 500, 7, &fresh, &to) == SCUTE_OK)
          static_cast<void>(scute_tx_commit(tx));
        else
          scute_tx_abort(tx);
      }
    }
    static_cast<void>(scute_close(std::exchange(f.pool, nullptr)));
    return e;
  }

  void put_head(bytes& to, log_file_head h) const {
    h.checksum = codec::crc32c(0, reinterpret_cast<const std::byte*>(&h) + 12, sizeof h - 12);
    for (const size_t at : {size_t{0}, size_t{format::page}})
      std::memcpy(to.data() + at, &h, sizeof h);
  }

  // Calls fn(frame head, body) for a frame, which has its checksums again after that, in this copy.
  // Returns frames seen.
  template <typename Fn>
  unsigned change_frames(bytes& to, random_source& random, Fn&& fn) const {
    unsigned seen = 0;
    for (uint64_t segment = format::log_file_chunks_offset;
         segment + head.segment_size <= to.size(); segment += head.segment_size) {
      format::segment_head h;
      std::memcpy(&h, to.data() + segment, sizeof h);
      if (h.magic != format::segment_magic || h.salt != salt) continue;
      for (uint64_t position = 1; position * 64 < head.segment_size;) {
        format::frame_head fh;
        unsigned char* const at = to.data() + segment + position * 64;
        std::memcpy(&fh, at, sizeof fh);
        if (fh.checksum != log::frame_head_checksum(log::seed_of(h), position, fh) ||
            fh.size > head.segment_size - position * 64) {
          ++position;
          continue;
        }
        const uint64_t lines = (fh.size + 63) / 64;
        ++seen;
        if (random.one_in(3)) {
          fn(fh, at + sizeof fh);
          fh.size = std::clamp<uint32_t>(fh.size, sizeof fh, static_cast<uint32_t>(lines * 64));
          fh.body_checksum = codec::crc32c(0, at + sizeof fh, fh.size - sizeof fh);
          fh.checksum = log::frame_head_checksum(log::seed_of(h), position, fh);
          std::memcpy(at, &fh, sizeof fh);
        }
        position += lines;
      }
    }
    return seen;
  }

  const std::set<int> allowed{SCUTE_E_CORRUPT, SCUTE_E_TRUNCATED, SCUTE_E_VERSION, SCUTE_E_NOSPC};
  pool_file f;
  std::vector<scute_oid> oids;
  bytes pool, log;
  log_file_head head{};
  uint64_t salt = 0;
};

uint64_t odd(random_source& random) {
  constexpr uint64_t all[] = {0, 1, 63, 4096, 1 << 20, UINT32_MAX, uint64_t{1} << 40, UINT64_MAX};
  return random.one_in(2) ? all[random.between(0, 7)] : random.word();
}

TEST(log_file_mutation, BytesThatChanged) {
  SCUTE_RANDOM(random);
  hostile_log l;
  unsigned opened = 0;
  for (unsigned i = 0; i < 150; ++i) {
    bytes b = l.log;
    for (uint64_t k = random.between(1, 8); k != 0; --k) {
      const uint64_t area = random.one_in(2) ? 2 * format::page : b.size();
      b[random.between(0, area - 1)] ^= static_cast<unsigned char>(random.between(1, 255));
    }
    if (random.one_in(6)) b.resize(random.between(0, b.size() + 9000));
    opened += l.attempt(b, i % 4 == 0 ? uint32_t{SCUTE_READONLY} : 0U) == SCUTE_OK ? 1 : 0;
  }
  EXPECT_GT(opened, 20U);
}

TEST(log_file_mutation, HeadsWithWrongFields) {
  SCUTE_RANDOM(random);
  hostile_log l;
  unsigned opened = 0, refused = 0;
  for (unsigned i = 0; i < 150; ++i) {
    bytes b = l.log;
    log_file_head h = l.head;
    switch (random.between(0, 8)) {
      case 0: h.epoch = l.head.epoch + random.between(0, 4) - 2; break;
      case 1:
        h.segment_size = random.one_in(2) ? uint64_t{1} << random.between(0, 63) : odd(random);
        break;
      case 2: h.chunk_size = odd(random); break;
      case 3: h.chunks = static_cast<uint32_t>(odd(random)); break;
      case 4: h.kept = static_cast<uint32_t>(random.between(0, h.chunks + 2)); break;
      case 5: h.redundancy = static_cast<uint32_t>(random.between(0, 4)); break;
      case 6: h.state = static_cast<uint32_t>(random.between(0, 5)); break;
      case 7: h.number = UINT64_MAX - random.between(0, 2); break;
      case 8: h.version = static_cast<uint32_t>(odd(random)); break;
    }
    l.put_head(b, h);
    (l.attempt(b, 0) == SCUTE_OK ? opened : refused)++;
  }
  EXPECT_GT(opened, 5U);
  EXPECT_GT(refused, 20U);
}

TEST(log_file_mutation, FramesWithWrongFields) {
  SCUTE_RANDOM(random);
  hostile_log l;
  unsigned seen = 0;
  for (unsigned i = 0; i < 200; ++i) {
    bytes b = l.log;
    seen += l.change_frames(b, random, [&](format::frame_head& h, unsigned char* body) {
      switch (random.between(0, 6)) {
        case 0: h.sequence = odd(random); break;
        case 1: h.flags = static_cast<uint32_t>(odd(random)); break;
        case 2: h.size = static_cast<uint32_t>(odd(random)); break;
        case 3: h.transaction = odd(random); break;
        default: {
          format::log_record r;
          std::memcpy(&r, body, sizeof r);
          switch (random.between(0, 3)) {
            case 0: r.offset = odd(random); break;
            case 1: r.offset = random.between(0, l.pool.size()); break;
            case 2: r.length = static_cast<uint32_t>(odd(random)); break;
            case 3: r.kind = static_cast<uint32_t>(random.between(0, 6)); break;
          }
          std::memcpy(body, &r, sizeof r);
        }
      }
    });
    l.attempt(b, i % 4 == 0 ? uint32_t{SCUTE_READONLY} : 0U);
  }
  EXPECT_GT(seen, 1000U) << "the frames were found";
}

}  // namespace
}  // namespace scute::test
