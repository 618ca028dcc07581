// SPDX-License-Identifier: BSD-3-Clause
// Pins the format: the bytes of two pools of each engine, printed field by field, must equal the
// files golden_*.txt in this folder. SCUTE_UPDATE_GOLDEN=1 writes these again. An unintended
// difference breaks the format.
#include <gtest/gtest.h>

#include <cstdarg>
#include <sstream>

#include "core/shared/pool/session_number.hpp"
#include "support/golden.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class dump {
 public:
  explicit dump(const bytes& file) : b_(file) {
    std::memcpy(&sb_, b_.data(), sizeof sb_);
    superblock();
    lanes();
    for (uint64_t z = 0; z < sb_.zone_count; ++z) zone(z);
  }
  std::string text() const { return out_.str(); }

 private:
  template <typename T>
  T at(uint64_t offset) const {
    T t;
    std::memcpy(&t, b_.data() + offset, sizeof t);
    return t;
  }
  void line(const char* format, ...) __attribute__((format(printf, 2, 3))) {
    char buffer[300];
    va_list args;
    va_start(args, format);
    std::vsnprintf(buffer, sizeof buffer, format, args);
    va_end(args);
    out_ << buffer << '\n';
  }
  static unsigned long long u(uint64_t n) { return n; }

  void superblock() {
    line("# superblock, at 0, 4096 and %llu; uuid, tag and checksums are masked",
         u(sb_.file_size - 4096));
    line("magic            %02x%02x%02x%02x%02x%02x%02x%02x", sb_.magic[0], sb_.magic[1],
         sb_.magic[2], sb_.magic[3], sb_.magic[4], sb_.magic[5], sb_.magic[6], sb_.magic[7]);
    line("version          %u", sb_.version);
    line("checksum_kind    %u", sb_.checksum_kind);
    line("features         %llu %llu %llu", u(sb_.compat), u(sb_.ro_compat), u(sb_.incompat));
    line("layout           \"%s\"", sb_.layout);
    line("sequence         %llu", u(sb_.sequence));
    line("file_size        %llu", u(sb_.file_size));
    line("lanes            %llu + %u * %u * %llu", u(sb_.lanes_offset), sb_.lane_replicas,
         sb_.lane_count, u(sb_.lane_size));
    line("zones            %llu + %u * %llu", u(sb_.zones_offset), sb_.zone_count,
         u(sb_.zone_size));
    line("rows             (%u + %u) * %llu", sb_.rows, sb_.parity, u(sb_.row_size));
    line("chunk_size       %u", sb_.chunk_size);
    line("protection       %u", sb_.protection);
    line("engine           %u", sb_.engine);
    line("epoch            %llu, resolved %llu", u(sb_.epoch), u(sb_.resolved_epoch));
    line("clean            %u", sb_.clean);
    bool zeros = sb_.reserved0 == 0 && sb_.goal == 0;
    // (The session's number is masked as well, and where it is; SESSION-3.)
    const pool::session_number n = pool::session_of(sb_);
    for (size_t i = sizeof n; i < sizeof sb_.reserved; ++i) zeros = zeros && sb_.reserved[i] == 0;
    line("session          %s, before %s", n.number != 0 ? "a number" : "NONE",
         n.before != 0 ? "a number" : "none");
    line("reserved         %s", zeros ? "zeros" : "NOT ZERO");
    for (const uint64_t other : {uint64_t{4096}, sb_.file_size - 4096})
      line("copy at %-8llu %s", u(other),
           std::memcmp(b_.data(), b_.data() + other, 512) == 0 ? "the same" : "DIFFERENT");
  }

  void lanes() {
    line("\n# lanes that were used");
    for (uint32_t r = 0; r < sb_.lane_replicas; ++r)
      for (uint32_t i = 0; i < sb_.lane_count; ++i) {
        const uint64_t base = sb_.lanes_offset + (uint64_t{r} * sb_.lane_count + i) * sb_.lane_size;
        const auto status = at<format::lane_status>(base);
        bool used = status.applied != 0 || status.undone != 0;
        for (uint64_t p = 64; p < sb_.lane_size; p += 64) {
          const auto e = at<format::log_entry>(base + p);
          if (e.magic != format::entry_magic) continue;
          used = true;
          line(
              "lane %u replica %u: entry at %llu: epoch %llu sequence %llu transaction %llu flags "
              "%u body %llu",
              i, r, u(e.position), u(e.epoch), u(e.sequence), u(e.transaction), e.flags,
              u(e.body_size));
          uint64_t at_record = base + p + sizeof e;
          for (uint64_t left = e.body_size; left >= sizeof(format::log_record);) {
            const auto rec = at<format::log_record>(at_record);
            const uint64_t n = sizeof rec + (rec.kind == 2 ? 0 : (rec.length + 7) / 8 * 8);
            line("  record kind %u: %u bytes for %llu", rec.kind, rec.length, u(rec.offset));
            if (n > left) break;
            at_record += n, left -= n;
          }
        }
        if (used)
          line("lane %u replica %u: applied %llu, undone %llu", i, r,
               u(status.applied & 0xffff'ffff'ffff), u(status.undone & 0xffff'ffff'ffff));
      }
  }

  void header(const char* what, uint64_t offset) {
    const auto h = at<format::fragment_header>(offset);
    line("%s at %llu: type %x size %llu state %u generation %u tag %llu/%llu/%llu next %s", what,
         u(offset), h.type, u(format::meta_size(h.meta)),
         static_cast<unsigned>(format::meta_role(h.meta)), format::meta_generation(h.meta),
         u(h.tag >> 40), u(h.tag >> 32 & 0xff), u(h.tag & 0xffffffff),
         h.next == offset ? "itself" : std::to_string(h.next).c_str());
  }

  void zone(uint64_t z) {
    const uint64_t base = sb_.zones_offset + z * sb_.zone_size;
    const auto d = at<format::zone_descriptor>(base);
    line("\n# zone %llu", u(z));
    header("descriptor", base);
    line("  index %llu, high water %u, log chunks %u", u(d.index), d.high_water, d.log_chunks);
    if (z == 0) {
      header("root anchor", base + 64);
      line("  oid %llu", u(at<format::root_anchor>(base + 64).oid & 0xffff'ffff'ffff));
    }
    const uint64_t data = sb_.rows * sb_.row_size;
    uint64_t chunks = (data - 4096) / (sb_.chunk_size + 64);
    while ((4096 + chunks * 64 + 4095) / 4096 * 4096 + chunks * sb_.chunk_size > data) --chunks;
    const uint64_t first = base + (4096 + chunks * 64 + 4095) / 4096 * 4096;
    line("  %llu chunks from %llu", u(chunks), u(first));
    for (uint32_t i = 0; i < d.high_water; ++i) {
      const uint64_t at_header = base + 4096 + 64 * i;
      const auto c = at<format::chunk_header>(at_header);
      header("chunk header", at_header);
      line(
          "  chunk %u: kind %u, generation %u, slots of %u with %u headers, %u formatted, length "
          "%u",
          i, c.kind, c.generation, c.slot_size, c.fragments, c.formatted, c.length);
      const uint64_t here = first + uint64_t{i} * sb_.chunk_size;
      if (c.kind == 1)
        for (uint32_t s = 0; s < c.formatted; ++s)
          object(here + uint64_t{s} * c.slot_size, c.fragments);
      if (c.kind == 2) object(here, (uint64_t{c.length} * sb_.chunk_size + 4127) / 4128);
    }
    uint64_t odd = 0;
    for (uint64_t column = 0; sb_.parity != 0 && column < sb_.row_size; ++column) {
      unsigned char sum = 0;
      for (uint64_t r = 0; r <= sb_.rows; ++r) sum ^= b_[base + r * sb_.row_size + column];
      odd += sum != 0;
    }
    line("columns off: %llu", u(odd));
  }

  void object(uint64_t offset, uint64_t fragments) {
    const auto h = at<format::fragment_header>(offset);
    if (format::meta_role(h.meta) == format::role::free) return;
    header("  object", offset);
    const uint64_t size = format::meta_size(h.meta), payload = offset + fragments * 32;
    for (uint64_t i = 1; i * 4096 < size; ++i) header("    part", offset + i * 32);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < size; ++i) sum = sum * 31 + b_[payload + i];
    line("    payload at %llu, %llu bytes, hash %016llx", u(payload), u(size), u(sum));
  }

  const bytes& b_;
  format::superblock sb_;
  std::ostringstream out_;
};

void compare(const std::string& name, const std::string& text) {
  compare_golden("tests/pool/golden_" + name + ".txt", text, "the format");
}

// By engine.
class golden : public testing::TestWithParam<scute_engine> {
 protected:
  std::string name(const char* what) const {
    return std::string(what) + (GetParam() == SCUTE_ENGINE_LOGFREE ? "_logfree" : "");
  }
};

scute_options golden_options(scute_engine engine) {
  scute_options o = options(mib, {SCUTE_PROTECT_MLPC, engine});
  o.layout = "golden";
  o.lanes = 1;  // whichever thread runs this
  return o;
}

TEST_P(golden, EmptyPool) {
  pool_file f;
  f.create(golden_options(GetParam()));
  f.close();
  compare(name("empty"), dump(read_file(f.path)).text());
}

// POOL-8: the tests of this folder run with portable kernels as well.
TEST_P(golden, FiveObjects) {
  pool_file f;
  f.create(golden_options(GetParam()));
  scute_oid root = 0;
  SCUTE_OKAY(scute_root(f, 64, 1, &root));  // 1
  f.alloc(pattern(2, 10), 2);               // 2
  const scute_oid gone = f.alloc(pattern(0, 10), 2);
  f.alloc(pattern(3, 5000), 3);  // 3: two fragments
  // The chunks of its log, which would be lent still.
  f.in().heap->clear_chunk_cache(f.in().s.lanes.front());
  f.alloc(pattern(4, 20000), 4);  // 4: a span
  {
    transaction tx(f);
    void* p = nullptr;
    SCUTE_OKAY(scute_tx_alloc(tx, 100, 5, nullptr, &p) == SCUTE_E_INVALID ? SCUTE_OK
                                                                          : SCUTE_E_INTERNAL);
    scute_oid oid = 0;
    SCUTE_OKAY(scute_tx_alloc(tx, 100, 5, &oid, &p));  // 5
    std::memcpy(p, pattern(5, 100).data(), 100);
    SCUTE_OKAY(scute_tx_free(tx, gone));
    SCUTE_OKAY(scute_tx_add_range(tx, root, 8, 8, &p));
    std::memcpy(p, &oid, 6);  // not the tag, which is random
    SCUTE_OKAY(tx.commit());
  }
  // Not closed: the log of the session is in its lanes.
  compare(name("objects"), dump(read_file(f.path)).text());
}

INSTANTIATE_TEST_SUITE_P(Engine, golden, testing::Values(SCUTE_ENGINE_REDO, SCUTE_ENGINE_LOGFREE),
                         engine_name);

}  // namespace
}  // namespace scute::test
