// SPDX-License-Identifier: BSD-3-Clause
#include "api/temp_pool.hpp"

namespace {

TEST(options, defaults_are_the_library_s) {
  scute_options c;
  scute_options_init(&c);
  const scute_options ours = scute::options{}.native();
  EXPECT_EQ(ours.struct_size, c.struct_size);
  EXPECT_EQ(ours.size, c.size);
  EXPECT_EQ(ours.layout, c.layout);
  EXPECT_EQ(ours.medium, c.medium);
  EXPECT_EQ(ours.engine, c.engine);
  EXPECT_EQ(ours.protection, c.protection);
  EXPECT_EQ(ours.checksum, c.checksum);
  EXPECT_EQ(ours.rows, c.rows);
  EXPECT_EQ(ours.parity, c.parity);
  EXPECT_EQ(ours.lanes, c.lanes);
  EXPECT_EQ(ours.chunk_size, c.chunk_size);
  EXPECT_EQ(ours.flags, c.flags);
  EXPECT_EQ(ours.mode, c.mode);
}

TEST(options, designated_initialisers) {
  const scute::options how{.size = 1 << 20,
                           .layout = "test",
                           .protection = scute::protection::mlp,
                           .lanes = 2,
                           .readonly = true,
                           .overwrite = true};
  const scute_options c = how.native();
  EXPECT_EQ(c.size, 1U << 20);
  EXPECT_STREQ(c.layout, "test");
  EXPECT_EQ(c.protection, SCUTE_PROTECT_MLP);
  EXPECT_EQ(c.lanes, 2U);
  EXPECT_EQ(c.flags, static_cast<std::uint32_t>(SCUTE_READONLY | SCUTE_OVERWRITE));
}

TEST(options, set_by_name) {
  scute::options how;
  how.set("size", "32M").set("layout", "shop").set("protection", "mlp").set("readonly", "1");
  EXPECT_EQ(how.size, 32ULL << 20);
  EXPECT_EQ(how.layout, "shop");
  EXPECT_EQ(how.protection, scute::protection::mlp);
  EXPECT_TRUE(how.readonly);
  how.set("readonly", "0").set("size", "64M");
  EXPECT_FALSE(how.readonly);
  EXPECT_EQ(how.layout, "shop") << "setting one option must keep the others";
  EXPECT_ERRC(invalid, how.set("colour", "red"));
}

TEST(options, environment) {
  ASSERT_EQ(setenv("SCUTE_SIZE", "8388608", 1), 0);
  scute::options how{.layout = "shop"};
  how.apply_env();
  unsetenv("SCUTE_SIZE");
  EXPECT_EQ(how.size, 8ULL << 20);
  EXPECT_EQ(how.layout, "shop");
}

}  // namespace
