// SPDX-License-Identifier: BSD-3-Clause
// A shielded file on a disk, and the power fails. Of the file, as of FILE.scute, the disk has the
// bytes that the library's own syncs have written there (JOIN-3).
#include <gtest/gtest.h>

#include "hostile/lossy_disk.hpp"
#include "support/seed.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

constexpr scute_engine engines[] = {SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO, SCUTE_ENGINE_SPEC};

scute_options on_disk(scute_engine engine) {
  scute_options o = shielded::options(engine);
  o.medium = SCUTE_MEDIUM_FILE;
  return o;
}

// Changes in several places, so that a commit is more than one range.
void change(shielded& f, random_source& random) {
  for (uint64_t i = 0; i < 20; ++i) {
    const bytes a = pattern(3 * i, 700), b = pattern(3 * i + 1, 70), c = pattern(3 * i + 2, 9000);
    const uint64_t at[] = {random.between(0, 90'000), 100'000 + random.between(0, 90'000),
                           200'000 + random.between(0, 90'000)};
    const scute_shield_change all[] = {
        {at[0], a.data(), a.size()}, {at[1], b.data(), b.size()}, {at[2], c.data(), c.size()}};
    SCUTE_OKAY(scute_shield_write(f.pool, all, 3));
    for (const auto& one : all) {
      const auto* from = static_cast<const unsigned char*>(one.bytes);
      std::copy(from, from + one.length, f.content.begin() + static_cast<ptrdiff_t>(one.offset));
    }
  }
}

TEST(shield_disk, HasAllAfterAClose) {
  SCUTE_RANDOM(random);
  for (const auto engine : engines) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    shielded f(scratch::disk);
    f.make(300'001);
    const scute_options o = on_disk(engine);
    SCUTE_OKAY(scute_shield_add(f.path.c_str(), &o, 0, 0));
    lossy_disk disk(f.path);
    SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
    change(f, random);
    f.close();
    SCUTE_OKAY(scute_shield_remove(f.path.c_str(), &o));
    EXPECT_TRUE(disk.after_power_failure(random) == f.content);
  }
}

TEST(shield_disk, HasWhatWasCommitted) {
  SCUTE_RANDOM(random);
  for (const auto engine : engines) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    shielded f(scratch::disk);
    f.make(300'001);
    const scute_options o = on_disk(engine);
    SCUTE_OKAY(scute_shield_add(f.path.c_str(), &o, 0, 0));
    lossy_disk disk(f.path);
    SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
    change(f, random);
    f.in().abandon();
    scute_close(std::exchange(f.pool, nullptr));
    disk.fail_power(random);
    SCUTE_OKAY(scute_shield_open(f.path.c_str(), &o, &f.pool));
    EXPECT_TRUE(f.read(0, f.content.size()) == f.content);
    f.expect_sound();
    EXPECT_EQ(f.in().s.repaired.load(), 0u) << "parity had to make up for what was lost";
    f.close();
  }
}

}  // namespace
}  // namespace scute::test
