// SPDX-License-Identifier: BSD-3-Clause
// A chunk is lent to a log, and the process dies in the middle, while a log-free transaction of
// another thread is torn in the same columns: the parity over these must make sense at every
// moment, whatever recovery takes the chunk for.
#include <gtest/gtest.h>

#include "scrub/crash_image.hpp"

namespace scute::test {
using namespace core;
namespace {

// Keeps what the file holds before each thing that the allocator asks of the engine.
class step_recorder final : public heap::step_engine {
 public:
  explicit step_recorder(pool_file& f) : f_(f), real_(*f.in().relay.target) {
    f_.in().relay.target = this;
  }
  ~step_recorder() override { f_.in().relay.target = &real_; }
  step_recorder(const step_recorder&) = delete;
  step_recorder& operator=(const step_recorder&) = delete;

  void step(pool::lane& l, std::span<const pool::patch> patches) override {
    take_down();
    real_.step(l, patches);
  }
  void prewrite(pool::lane& l, std::span<const pool::patch> patches) override {
    take_down();
    real_.prewrite(l, patches);
  }
  void write_unlogged(pool::lane& l, std::span<const pool::patch> patches) override {
    take_down();
    real_.write_unlogged(l, patches);
  }
  void prepare_reuse(pool::lane& l, uint64_t chunk, uint64_t length) override {
    take_down();
    real_.prepare_reuse(l, chunk, length);
  }
  void take_down() { images.push_back(read_file(f_.path)); }

  std::vector<bytes> images;

 private:
  pool_file& f_;
  heap::step_engine& real_;
};

TEST(lent_chunk, WhileATransactionIsTornInItsColumns) {
  crash_image f;
  f.in().idle.stop();
  // A row of objects that fill a chunk each, with noise; the first row has others to be torn.
  std::vector<scute_oid> small, large;
  for (uint64_t i = 0; i < 30; ++i) small.push_back(f.add(pattern(i, 2000)));
  const uint64_t full = 2 * f.g.row_size;
  for (uint64_t i = 0; f.g.zones_offset + full > f.offset_of(large.empty() ? 0 : large.back()); ++i)
    large.push_back(f.add(pattern(1000 + i, 15000)));
  const auto column = [&](scute_oid oid) { return pool::cell_of(f.g, f.offset_of(oid)).column; };
  // One of each that have columns in common.
  const scute_oid victim = small[10];
  scute_oid gone = 0;
  for (const scute_oid oid : large)
    if (column(oid) < column(victim) && column(oid) + 15000 > column(victim) + 2000 &&
        pool::cell_of(f.g, f.offset_of(oid)).row != pool::cell_of(f.g, f.offset_of(victim)).row)
      gone = oid;
  ASSERT_NE(gone, 0u);
  ASSERT_EQ(SCUTE_OK, f.free(gone));
  f.before.erase(gone);
  f.file();

  // The last free chunk is lent first, so those after it go before.
  const uint64_t chunk = (f.offset_of(gone) - f.g.chunk_offset(0, 0)) / f.g.chunk_size;
  heap::zone& zone = f.in().heap->zones().get(0);
  size_t behind = 0;
  for (uint64_t i = chunk + 1; i < zone.high_water; ++i)
    behind += zone.chunks[i].kind == heap::use::free;
  std::vector<uint64_t> others = f.in().heap->lend(f.in().s.lanes.front(), behind);

  std::vector<uint64_t> lent;
  std::vector<bytes> images;
  {
    step_recorder recorder(f);
    pool::lane& l = f.in().s.lanes.front();
    lent = f.in().heap->lend(l, 1);
    ASSERT_EQ(lent.front(), f.g.chunk_offset(0, static_cast<uint32_t>(chunk)));
    recorder.take_down();
    f.in().heap->take_back(l, lent);
    recorder.take_down();
    images = recorder.images;
  }
  f.in().heap->take_back(f.in().s.lanes.front(), others);
  // Both steps at least, and the zeros for each block of the chunk between them.
  ASSERT_GE(images.size(), 7u);
  for (size_t i = 0; i < images.size(); ++i) {
    SCOPED_TRACE("before call " + std::to_string(i) + " of " + std::to_string(images.size()));
    bytes torn = images[i];
    std::fill_n(torn.begin() + static_cast<long>(f.offset_of(victim)) + 64, 1500, 0x77);
    f.load(torn);
    f.expect(f.before);
    f.expect_sound_with(f.before);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace scute::test
