// SPDX-License-Identifier: BSD-3-Clause
// Every system call and every allocation of an operation on a persist-on-write file fails in turn.
// Each time the outcome is success or a documented error. Memory has the state before the
// operation, or the one after it, and so has the file, opened again.
#include <scute/pow.hpp>

#include <gtest/gtest.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "hostile/fault_injector.hpp"
#include "support/scratch.hpp"

namespace scute::test {
namespace {

struct world {
  world(const std::string& path, scute_medium medium, uint32_t flags = 0)
      : db(path, options(medium, flags)), words(db, "words"), jobs(db, "jobs") {}
  static pow::options options(scute_medium medium, uint32_t flags) {
    pow::options o;
    o.size = 512 << 10;
    o.max_size = 4 << 20;
    o.segment_size = 72 * 1024;
    o.medium = medium;
    o.flags = flags | SCUTE_POW_NO_CLEANER;
    o.threads = 1;
    return o;
  }
  std::string text() const {
    std::string s;
    for (const auto& [k, v] : words)
      s += std::to_string(k) + "=" + std::to_string(v.size()) + v.substr(0, 3) + " ";
    return s + std::to_string(jobs.size()) + " jobs" + (jobs.empty() ? "" : " " + jobs.front());
  }
  void put(uint64_t k, size_t n, char c, pow::durability how = pow::strict) {
    auto s = db.section(m, how);
    words.edit(k) = std::string(n, c);
    s.commit();
  }
  pow::store db;
  pow::map<uint64_t, std::string> words;
  pow::queue<std::string> jobs;
  std::mutex m;
};

struct operation {
  const char* name;
  bool opened;   // before; otherwise it is what opens
  bool crashed;  // the file was not closed
  std::function<void(world&)> run;
};

const std::vector<operation>& operations() {
  static const std::vector<operation> all{
      {"open", false, false, {}},
      {"open_after_crash", false, true, {}},
      {"section", true, false,
       [](world& w) {
         auto s = w.db.section(w.m);
         w.words.edit(3) = "changed";
         w.words.edit(300) = "made";
         w.words.erase(4);
         s.commit();
       }},
      {"later_and_sync", true, false,
       [](world& w) {
         w.put(3, 5, 'l', pow::later);
         w.db.sync();
       }},
      {"eager", true, false,
       [](world& w) {
         auto s = w.db.section(w.m);
         w.words.edit(3) = std::string(9000, 'e');
         s.stream();
         w.words.edit(5) = std::string(60000, 'e');
         s.commit();
       }},
      // The sections after an aborted one must not miss what it has streamed.
      {"eager_aborted", true, false,
       [](world& w) {
         {
           auto s = w.db.section(w.m, pow::later);
           w.words.edit(3) = std::string(9000, 'e');
           s.stream();
           w.words.edit(5) = std::string(60000, 'e');
           s.stream();
         }
         w.put(6, 70, 's');
       }},
      // Rolling an abort back needs no memory.
      {"undone", true, false,
       [](world& w) {
         auto s = w.db.section(w.m);
         w.words.edit(3) = "changed";
         w.words.erase(4);
         w.jobs.pop();
         w.jobs.push("another");
         w.jobs.pop();
         s.abort();
       }},
      // An edit that has failed is made again, and the section aborts.
      {"retried", true, false,
       [](world& w) {
         auto s = w.db.section(w.m);
         for (int tries = 0; tries < 2; ++tries) try {
             w.words.edit(3) = "changed";
             w.words.edit(300) = "made";
             w.words.erase(4);
             break;
           } catch (const std::bad_alloc&) {
           } catch (const scute::error& e) {
             if (e.which() != errc::nomem) throw;
           }
       }},
      {"growth", true, false,
       [](world& w) {
         auto s = w.db.section(w.m);
         for (uint64_t k = 0; k < 12; ++k) w.words.edit(500 + k) = std::string(50000, 'g');
         s.commit();
       }},
      {"clean", true, false, [](world& w) { w.db.clean(); }},
      {"compact", true, false, [](world& w) { w.db.compact(); }},
      {"check", true, false, [](world& w) { w.db.check(SCUTE_POW_REPAIR | SCUTE_POW_COMPARE); }},
      {"new_table", true, false, [](world& w) { pow::value<int> v(w.db, "a value"); }},
      {"close", true, false, [](world& w) { w.db.close(); }},
  };
  return all;
}

class pow_fault : public testing::TestWithParam<std::tuple<size_t, scute_medium>> {
 protected:
  pow_fault() {
    {
      world w(path, medium());
      for (uint64_t i = 0; i < 60; ++i) w.put(i % 20, 2000 + i, static_cast<char>('a' + i % 26));
      for (uint64_t i = 5; i < 10; ++i) w.put(i + 20, 900, 'q');
      auto s = w.db.section(w.m);
      for (const char* job : {"first", "second", "third"}) w.jobs.push(job);
      s.commit();
      crashed = read_file(path);
    }
    clean = read_file(path);
  }
  const operation& op() const { return operations()[std::get<0>(GetParam())]; }
  scute_medium medium() const { return std::get<1>(GetParam()); }
  std::unique_ptr<world> prepare() {
    ::unlink(path.c_str());
    write_file(path, op().crashed ? crashed : clean);
    return op().opened ? std::make_unique<world>(path, medium()) : nullptr;
  }
  void run(std::unique_ptr<world>& w) {
    if (w == nullptr)
      w = std::make_unique<world>(path, medium(), SCUTE_POW_EXISTING);
    else
      op().run(*w);
  }
  std::string found() {
    world w(path, medium(), SCUTE_POW_EXISTING);
    EXPECT_EQ(w.db.check(SCUTE_POW_COMPARE), 0U);
    const std::string s = w.text();
    w.put(999, 10, 'n');  // it works
    return s;
  }
  static bool documented(call c, errc e) {
    switch (c) {
      case call::memory: return e == errc::nomem;
      // One page that cannot be read is rebuilt; where there is no page to tell from, nothing is.
      case call::pread: return e == errc::corrupt || e == errc::format || e == errc::io;
      case call::mmap: return e == errc::nomem || e == errc::io;
      default: return e == errc::io || e == errc::nospc;
    }
  }
  // False if it makes no nth call.
  bool disturbed(call c, uint64_t nth, int error, bool lasting) {
    const std::string situation = std::string(op().name) + ": " + call_name(c) + " fails at " +
                                  std::to_string(nth) + (lasting ? " and on" : "");
    SCOPED_TRACE(situation);
    faults::describe(situation);
    auto w = prepare();
    std::optional<errc> failed;
    faults::arm(c, nth, error, lasting);
    try {
      run(w);
    } catch (const scute::error& e) {
      failed = e.which();
    } catch (const std::bad_alloc&) {
      failed = errc::nomem;  // of the faces
    }
    const bool hit = faults::disarm().hit;
    if (!hit) {
      EXPECT_FALSE(failed) << static_cast<int>(*failed);
      return false;
    }
    if (failed) {
      EXPECT_TRUE(documented(c, *failed)) << static_cast<int>(*failed) << scute_errormsg();
    }
    // The sync may fail after the commit, and can be repeated.
    const bool two_steps = std::string_view(op().name) == "later_and_sync";
    // If a sync fails, the next opening decides what the file holds. Memory is then as before, or
    // as after.
    if (w != nullptr && w->db.native_handle() != nullptr && failed != errc::io && op().opened) {
      const std::string here = w->text();
      EXPECT_TRUE(here == (failed ? before : after) || (two_steps && here == after)) << here;
    }
    w.reset();
    const std::string there = found();
    if (failed == errc::io || two_steps)
      EXPECT_TRUE(there == before || there == after) << there;
    else
      EXPECT_EQ(there, failed ? before : after);
    ++hits;
    return !HasFailure();
  }
  void each(call c, int error, bool lasting) {
    // Each of the first ones, then fewer and fewer: on a disk an operation has thousands.
    for (uint64_t n = 1; disturbed(c, n, error, lasting); n += 1 + n / 50) ASSERT_LT(n, 100'000U);
  }

  scratch folder;
  std::string path = folder.file("s.pow");
  bytes clean, crashed;
  std::string before, after;
  uint64_t hits = 0;
};

INSTANTIATE_TEST_SUITE_P(, pow_fault,
                         testing::Combine(testing::Range<size_t>(0, operations().size()),
                                          testing::Values(SCUTE_MEDIUM_RAM, SCUTE_MEDIUM_FILE)),
                         [](const auto& p) {
                           return std::string(operations()[std::get<0>(p.param)].name) +
                                  (std::get<1>(p.param) == SCUTE_MEDIUM_RAM ? "_ram" : "_file");
                         });

TEST_P(pow_fault, EveryCall) {
  prepare();
  before = found();
  {
    auto w = prepare();
    run(w);
  }
  after = found();
  each(call::memory, ENOMEM, false);
  each(call::pwrite, EIO, false);
  each(call::msync, EIO, false);
  each(call::fdatasync, EIO, false);
  each(call::fallocate, ENOSPC, false);
  each(call::ftruncate, EIO, false);
  each(call::mmap, ENOMEM, false);
  each(call::fcntl, EIO, false);
  each(call::fstat, EIO, false);
  each(call::fdatasync, EIO, true);
  each(call::fallocate, ENOSPC, true);
  EXPECT_GT(hits, 0U);
}

// An object of the paper's calls has one number, however often there was no memory for it.
TEST(paper_fault, AnObjectIsCountedOnce) {
  const scratch folder;
  scute_pow* store = nullptr;
  scute_pow_file* file = nullptr;
  ASSERT_EQ(scute_pow_open(folder.file("s.pow").c_str(), nullptr, &store), SCUTE_OK);
  ASSERT_EQ(scute_pow_alloc(store, "objects", sizeof(uint64_t), &file), SCUTE_OK);
  uint64_t objects[50] = {}, count = 0, failed = 0;
  for (uint64_t made = 0; made < std::size(objects); ++made) {
    for (uint64_t nth = 1;; ++nth) {
      faults::arm(call::memory, nth, ENOMEM);
      const int e = scute_pow_store(file, &objects[made]);
      faults::disarm();
      if (e == SCUTE_OK) break;
      ASSERT_EQ(e, SCUTE_E_NOMEM) << scute_errormsg();
      ++failed;
    }
    EXPECT_EQ(scute_pow_count(file, &count), SCUTE_OK);
    EXPECT_EQ(count, made + 1);
  }
  EXPECT_GT(failed, 50U);
  EXPECT_EQ(scute_pow_close(store), SCUTE_OK);
}

}  // namespace
}  // namespace scute::test
