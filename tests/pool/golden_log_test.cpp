// SPDX-License-Identifier: BSD-3-Clause
// Pins the format of sequential logs, as golden_test.cpp pins that of pools. golden_log_*.txt have
// the log of a pool of engine spec after a few transactions, in chunks of the pool and in a file of
// its own. SCUTE_UPDATE_GOLDEN=1 writes them again.
#include <gtest/gtest.h>

#include <sstream>

#include "core/engine/speculative/log_file/segment_list.hpp"
#include "support/golden.hpp"
#include "support/pool_file.hpp"

namespace scute::test {
namespace {

class log_dump {
 public:
  explicit log_dump(const bytes& file) : b_(file) {}

  void segments(const std::vector<log::segment>& all, log::redundancy how) {
    const int copies = how == log::redundancy::two_copies ? 2 : 1;
    for (size_t i = 0; i < all.size(); ++i)
      for (int copy = 0; copy < copies; ++copy) segment(i, copy, all[i].at[copy]);
  }
  void head(uint64_t offset) {
    const auto h = at<format::log_file_head>(offset);
    out_ << "head at " << offset << ": magic " << std::string(h.magic, sizeof h.magic)
         << " version " << h.version << " epoch " << h.epoch << " number " << h.number
         << " segment size " << h.segment_size << " chunk size " << h.chunk_size << " chunks "
         << h.chunks << " kept " << h.kept << " redundancy " << h.redundancy << " state " << h.state
         << '\n';
  }
  void truncation_point(uint64_t offset) {
    const auto sequence = at<uint64_t>(offset);
    out_ << "truncation point at " << offset << ": " << sequence << ", check "
         << (at<uint64_t>(offset + 8) >> 32 == 0x486f727a ? "marked"
             : sequence == 0                              ? "none"
                                                          : "UNMARKED")
         << '\n';
  }
  std::string text() const { return out_.str(); }

 private:
  template <typename T>
  T at(uint64_t offset) const {
    T t;
    std::memcpy(&t, b_.data() + offset, sizeof t);
    return t;
  }
  void segment(size_t number, int copy, uint64_t offset) {
    const auto h = at<format::segment_head>(offset);
    if (h.magic != format::segment_magic) return;
    out_ << "segment " << number << " copy " << copy << " at " << offset << ": epoch " << h.epoch
         << " generation " << h.generation << " lane " << h.lane << " redundancy " << h.redundancy
         << " size " << h.size << " truncation point " << h.truncation_point << " before "
         << h.before << '\n';
    for (uint64_t line = 1; (line + 1) * 64 <= h.size;) {
      const auto f = at<format::frame_head>(offset + line * 64);
      if (f.size < sizeof f || line * 64 + f.size > h.size) break;
      out_ << "  frame at line " << line << ": " << f.size << " bytes, flags " << f.flags
           << " sequence " << f.sequence << " transaction " << f.transaction << '\n';
      records(offset + line * 64 + sizeof f, f.size - sizeof f);
      line += (f.size + 63) / 64;
    }
  }
  void records(uint64_t offset, uint64_t left) {
    while (left >= sizeof(format::log_record)) {
      const auto r = at<format::log_record>(offset);
      const bool has_bytes = r.kind != static_cast<uint32_t>(format::record_kind::placed);
      const uint64_t n = sizeof r + (has_bytes ? (uint64_t{r.length} + 7) / 8 * 8 : 0);
      out_ << "    record kind " << r.kind << ": " << r.length << " bytes for " << r.offset << '\n';
      if (n > left) break;
      offset += n, left -= n;
    }
    if (left != 0) out_ << "    " << left << " bytes more\n";
  }

  const bytes& b_;
  std::ostringstream out_;
};

void compare_log(const std::string& name, const std::string& text) {
  compare_golden("tests/pool/golden_log_" + name + ".txt", text, "the format");
}

class golden_log : public testing::TestWithParam<scute_medium> {
 protected:
  // Nothing is checkpointed but by the drain.
  void play() {
    scute_options o = options(mib, {SCUTE_PROTECT_MLPC, SCUTE_ENGINE_SPEC});
    o.medium = GetParam();
    o.layout = "golden";
    o.lanes = 1;
    f.create(o);
    f.in().idle.stop();
    scute_oid root = 0;
    SCUTE_OKAY(scute_root(f, 640, 1, &root));
    SCUTE_OKAY(scute_drain(f));
    void* p = nullptr;
    {
      transaction tx(f);
      SCUTE_OKAY(scute_tx_add_range(tx, root, 8, 200, &p));
      std::memset(p, 7, 200);
      SCUTE_OKAY(tx.commit());
    }
    {
      transaction tx(f);
      SCUTE_OKAY(scute_tx_inplace(tx, root, 400, 100, &p));
      std::memset(p, 9, 100);
      SCUTE_OKAY(tx.commit());
    }
    f.alloc(pattern(3, 5000), 3);
    f.alloc(pattern(4, 20000), 4);  // placed
  }
  pool_file f;
};

TEST_P(golden_log, AFewTransactions) {
  play();
  if (GetParam() == SCUTE_MEDIUM_FILE) {
    const bytes file = read_file(f.path + ".log");
    log_dump d(file);
    for (const uint64_t at : {0, 4096}) d.head(at);
    for (const uint64_t page : {0, 1})
      for (const uint64_t place : {0, 1})
        d.truncation_point(format::log_file_truncation_offset + page * 4096 + place * 64);
    // As the head has it: one chunk after the other, of two copies in turn.
    format::log_file_head h;
    std::memcpy(&h, file.data(), sizeof h);
    engine::segment_list list;
    list.segment_size = h.segment_size;
    list.how = static_cast<log::redundancy>(h.redundancy);
    for (uint32_t i = 0; i < h.chunks; ++i)
      list.chunks.push_back(format::log_file_chunks_offset + i * h.chunk_size);
    d.segments(list.segments(f.in().s.geo), list.how);
    compare_log("file", d.text());
  } else {
    const bytes file = read_file(f.path);
    log_dump d(file);
    const engine::segment_list list = engine::read_list(f.in().s).value();
    d.segments(list.segments(f.in().s.geo), list.how);
    compare_log("chunks", d.text());
  }
}

INSTANTIATE_TEST_SUITE_P(Of, golden_log, testing::Values(SCUTE_MEDIUM_AUTO, SCUTE_MEDIUM_FILE),
                         [](const auto& p) {
                           return p.param == SCUTE_MEDIUM_FILE ? "file" : "chunks";
                         });

}  // namespace
}  // namespace scute::test
