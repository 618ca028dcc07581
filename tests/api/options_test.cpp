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
  EXPECT_EQ(ours.policy, c.policy);
  EXPECT_EQ(ours.scrub_every, c.scrub_every);
  EXPECT_EQ(ours.event, c.event);
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
  EXPECT_EQ(c.flags, static_cast<uint32_t>(SCUTE_READONLY | SCUTE_OVERWRITE));
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

TEST(options, policies) {
  scute::options how;
  EXPECT_EQ(how.policy, scute::policy::standard);
  how.set("policy", "scrub:100K");
  EXPECT_EQ(how.policy, scute::policy::scrub);
  EXPECT_EQ(how.scrub_every, 100U << 10);
  EXPECT_EQ(how.native().policy, SCUTE_POLICY_SCRUB);
  EXPECT_EQ(how.native().scrub_every, 100U << 10);
  how.set("policy", "conservative");
  EXPECT_EQ(how.policy, scute::policy::conservative);
  EXPECT_EQ(how.scrub_every, 0U);
  for (const char* bad :
       {"", "scrub", "scrub:", "scrub:0", "scrub:-1", "scrub:many", "Default", "conservative "}) {
    SCOPED_TRACE(bad);
    EXPECT_ERRC(invalid, how.set("policy", bad));
    EXPECT_EQ(how.policy, scute::policy::conservative) << "a refused value changes nothing";
  }
  how.set("policy", "default");
  EXPECT_EQ(how.policy, scute::policy::standard);
  how.set("no_fault_handler", "1").set("account", "1");
  EXPECT_EQ(how.native().flags, static_cast<uint32_t>(SCUTE_NO_FAULT_HANDLER | SCUTE_ACCOUNT));
}

TEST(options, policy_from_the_environment) {
  ASSERT_EQ(setenv("SCUTE_POLICY", "scrub:5000", 1), 0);
  ASSERT_EQ(setenv("SCUTE_ACCOUNT", "1", 1), 0);
  scute::options how;
  how.apply_env();
  unsetenv("SCUTE_POLICY");
  unsetenv("SCUTE_ACCOUNT");
  EXPECT_EQ(how.policy, scute::policy::scrub);
  EXPECT_EQ(how.scrub_every, 5000U);
  EXPECT_TRUE(how.account);
}

TEST(options, engines) {
  scute::options how;
  EXPECT_EQ(how.engine, scute::engine::automatic);
  how.set("engine", "logfree").set("lazy_recovery", "1").set("plain_encoding", "1");
  EXPECT_EQ(how.engine, scute::engine::logfree);
  EXPECT_TRUE(how.lazy_recovery);
  EXPECT_TRUE(how.plain_encoding);
  EXPECT_EQ(how.native().engine, SCUTE_ENGINE_LOGFREE);
  EXPECT_EQ(how.native().flags, static_cast<uint32_t>(SCUTE_LAZY_RECOVERY | SCUTE_PLAIN_ENCODING));
  how.set("engine", "redo");
  EXPECT_EQ(how.engine, scute::engine::redo);
  how.set("engine", "auto").set("lazy-recovery", "0").set("plain-encoding", "0");
  EXPECT_EQ(how.engine, scute::engine::automatic);
  EXPECT_EQ(how.native().flags, 0U);
  EXPECT_ERRC(invalid, how.set("engine", "log-free"));
}

TEST(options, without_a_log) {
  scute::options how;
  EXPECT_FALSE(how.without_log);
  how.set("without-log", "1");
  EXPECT_TRUE(how.without_log);
  EXPECT_EQ(how.native().flags, static_cast<uint32_t>(SCUTE_WITHOUT_LOG));
}

TEST(options, the_library_chooses_the_engine) {
  const scute_test::temp_folder folder;
  const auto engine_of = [&](scute::options how) {
    how.size = 1 << 20;
    how.overwrite = true;
    const auto pool = scute::pool::create(folder / "a", how);
    return pool.info().engine;
  };
  using enum scute::protection;
  EXPECT_EQ(engine_of({}), SCUTE_ENGINE_LOGFREE);
  for (const auto level : {none, ml, mlp})
    EXPECT_EQ(engine_of({.protection = level}), SCUTE_ENGINE_REDO);
  EXPECT_EQ(engine_of({.engine = scute::engine::redo}), SCUTE_ENGINE_REDO);
  for (const auto level : {none, ml, mlp}) try {
      engine_of({.engine = scute::engine::logfree, .protection = level});
      ADD_FAILURE() << "made";
    } catch (const scute::error& e) {
      EXPECT_EQ(e.which(), scute::errc::invalid);
      EXPECT_NE(std::string(e.what()).find("choose protection mlpc, or engine redo"),
                std::string::npos)
          << e.what();
    }
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
