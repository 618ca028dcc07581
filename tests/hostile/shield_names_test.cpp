// SPDX-License-Identifier: BSD-3-Clause
// A file is added to the shield, adopted, or removed from it. At every moment, the process is
// killed or the power fails, names and permissions of files included (FILE-1, MAKE-1, MAKE-3). The
// file keeps its bytes. Either the old protection, or the new one, or none is in effect. A later
// call can continue.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "hostile/lossy_folder.hpp"
#include "support/child.hpp"
#include "support/shielded.hpp"

namespace scute::test {
namespace {

constexpr scute_engine named_engines[] = {SCUTE_ENGINE_LOGFREE, SCUTE_ENGINE_REDO,
                                          SCUTE_ENGINE_SPEC};

class stage {
 public:
  explicit stage(scute_engine engine) : o(shielded::options(engine)) {
    o.medium = SCUTE_MEDIUM_FILE;  // with a log next to it, if the engine wants one
    o.rows = 4;
    o.lanes = 2;
    o.chunk_size = 16 * kib;
    as_it_is.medium = o.medium;
    f.make(30001);
    ::chmod(f.path.c_str(), 0640);
  }
  int add(uint32_t flags = 0) const { return scute_shield_add(f.path.c_str(), &o, 60000, flags); }
  int adopt() const { return scute_shield_adopt(f.path.c_str(), &o, 0, SCUTE_SHIELD_KEEP); }
  int remove() const { return scute_shield_remove(f.path.c_str(), &as_it_is); }
  int open() { return scute_shield_open(f.path.c_str(), &as_it_is, &f.pool); }
  void change() {
    SCUTE_OKAY(open());
    f.write(100, pattern(2, 5000));
    f.write(20000, pattern(3, 300));
  }
  // A session that ends by a kill; its changes are in f.content.
  void change_and_die() {
    child killed([&] {
      change();
      ::_exit(0);
    });
    ASSERT_EQ(killed.wait(), 0);
    const auto put = [&](uint64_t at, const bytes& b) {
      std::copy(b.begin(), b.end(), f.content.begin() + static_cast<ptrdiff_t>(at));
    };
    put(100, pattern(2, 5000));
    put(20000, pattern(3, 300));
  }
  unsigned mode() const {
    struct stat st{};
    return ::stat(f.path.c_str(), &st) == 0 ? st.st_mode & 0777U : 0;
  }
  void expect_sound_and_closed() {
    f.expect_sound();
    f.close();
  }
  // Removal from this state leaves the file alone, with nothing next to it.
  void remove_and_look() {
    SCUTE_OKAY(remove());
    EXPECT_EQ(f.dir.count(), 1u);
    EXPECT_EQ(mode(), 0640u);
    f.expect_file();
  }

  // Calls verify(state) for every state that an interrupted act() can leave.
  template <typename Act, typename Verify>
  void explore(Act&& act, Verify&& verify) {
    lossy_folder folder(f.dir.file(""));
    act();
    const auto& states = folder.end();
    for (const auto& s : states) {
      lossy_folder::restore(f.dir.file(""), s, "user.dat");
      verify(s);
      scute_close(std::exchange(f.pool, nullptr));
      if (testing::Test::HasFailure()) {
        std::string names;
        for (const auto& [name, file] : s.what)
          names += " " + name + " (" + std::to_string(file.content->size()) + " bytes)";
        FAIL() << s.story << (s.done ? " (done)" : "") << ":" << names;
      }
    }
    EXPECT_GT(folder.moments(), 3u);
    std::printf("%zu states at %zu moments\n", states.size(),
                static_cast<size_t>(folder.moments()));
  }

  scute_options o, as_it_is = opening();
  shielded f;
};

TEST(shield_names, Added) {
  for (const auto engine : named_engines) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    stage s(engine);
    s.explore([&] { SCUTE_OKAY(s.add()); },
              [&](const lossy_folder::state& state) {
                s.f.expect_file();
                if (!s.f.is_shielded()) {
                  EXPECT_FALSE(state.done);
                  SCUTE_OKAY(s.add());
                }
                SCUTE_OKAY(s.open());
                s.f.expect_content();
                s.expect_sound_and_closed();
                s.remove_and_look();
              });
  }
}

// Another program has changed the file without Scute.
TEST(shield_names, Adopted) {
  for (const auto engine : named_engines) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    stage s(engine);
    SCUTE_OKAY(s.add());
    s.f.flip(12345);
    s.f.content[12345] ^= 0x40;
    s.explore([&] { SCUTE_OKAY(s.adopt()); },
              [&](const lossy_folder::state& state) {
                s.f.expect_file();
                ASSERT_TRUE(s.f.is_shielded());
                const int e = s.open();
                EXPECT_TRUE(e == SCUTE_OK || (e == SCUTE_E_CHANGED && !state.done))
                    << scute_errormsg();
                if (e == SCUTE_E_CHANGED) {
                  s.f.expect_file();
                  SCUTE_OKAY(s.adopt());
                  SCUTE_OKAY(s.open());
                }
                s.f.expect_content();
                s.expect_sound_and_closed();
                s.remove_and_look();
              });
  }
}

// A killed `add` leaves files that are adopted, and the adoption is killed as well. A log may get
// its name before that.
TEST(shield_names, AdoptedAfterAKilledAddition) {
  stage s(SCUTE_ENGINE_SPEC);
  std::vector<lossy_folder::state> unnamed;
  s.explore(
      [&] { SCUTE_OKAY(s.add()); },
      [&](const lossy_folder::state& state) {
        if (state.what.contains("user.dat.scute") && state.what.contains("user.dat.scute.log.new"))
          unnamed.push_back(state);
      });
  ASSERT_FALSE(unnamed.empty());
  for (const lossy_folder::state& begin : unnamed) {
    SCOPED_TRACE(begin.story);
    lossy_folder::restore(s.f.dir.file(""), begin, "user.dat");
    s.explore([&] { SCUTE_OKAY(s.adopt()); },
              [&](const lossy_folder::state&) {
                s.f.expect_file();
                ASSERT_TRUE(s.f.is_shielded());
                SCUTE_OKAY(s.open());
                s.f.expect_content();
                s.expect_sound_and_closed();
                s.remove_and_look();
              });
  }
}

// The session before was killed: the old one has changes that the file lacks, or may lack.
TEST(shield_names, AdoptedAfterADeath) {
  for (const auto engine : named_engines) {
    SCOPED_TRACE("engine " + std::to_string(engine));
    stage s(engine);
    SCUTE_OKAY(s.add());
    s.change_and_die();
    const bytes changed = s.f.content, left = read_file(s.f.path);
    s.explore([&] { SCUTE_OKAY(s.adopt()); },
              [&](const lossy_folder::state& state) {
                EXPECT_TRUE(read_file(s.f.path) == left);
                ASSERT_TRUE(s.f.is_shielded());
                SCUTE_OKAY(s.open());
                const bytes now = s.f.read(0, left.size());
                EXPECT_TRUE(now == left || (now == changed && !state.done));
                s.f.content = now;
                s.expect_sound_and_closed();
                s.remove_and_look();
              });
  }
}

TEST(shield_names, Removed) {
  for (const auto engine : named_engines)
    for (const bool killed : {false, true}) {
      SCOPED_TRACE("engine " + std::to_string(engine) + (killed ? ", killed" : ""));
      stage s(engine);
      SCUTE_OKAY(s.add(SCUTE_SHIELD_GUARD));
      if (killed) {
        s.change_and_die();
      } else {
        s.change();
        s.f.close();
      }
      s.explore([&] { SCUTE_OKAY(s.remove()); },
                [&](const lossy_folder::state& state) {
                  if (!s.f.is_shielded()) {
                    EXPECT_EQ(s.mode(), 0640u);
                    s.f.expect_file();
                    return;
                  }
                  EXPECT_FALSE(state.done);
                  SCUTE_OKAY(s.open());
                  EXPECT_TRUE(s.f.read(0, s.f.content.size()) == s.f.content);
                  s.expect_sound_and_closed();
                  s.remove_and_look();
                });
    }
}

}  // namespace
}  // namespace scute::test
