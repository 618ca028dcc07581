// SPDX-License-Identifier: BSD-3-Clause
// CACHE-1: a mapped file is extended, or cut, concurrently with a commit. The kernel reports an
// error of the commit's page to the first sync, and to no other. So these syncs wait for each
// other, and every one of them gets the error of one.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "core/medium/mapped_medium.hpp"
#include "hostile/fault_injector.hpp"
#include "hostile/lossy_disk.hpp"
#include "support/page.hpp"
#include "support/pool_file.hpp"
#include "support/wait.hpp"

namespace scute::test {
namespace {

constexpr uint64_t pages = 16, more = 8;

enum class change : uint8_t { longer, shorter };

void beside_a_commit(bool by_calls, change what) {
  SCUTE_RANDOM(random);
  const scratch dir(scratch::disk);
  const std::string path = dir.file("file");
  write_file(path, bytes(pages * page));
  lossy_disk disk(path);
  const auto m =
      medium::map_file(medium::file_handle::open(path, medium::access::write), SCUTE_MEDIUM_FILE,
                       medium::access::write, {(pages + more) * page, by_calls});
  if (what == change::shorter) {
    ASSERT_EQ(m->grow(pages * page, more * page), 0);
  }
  std::atomic<bool> inside{false}, armed{false}, failed{false}, acknowledged{false};
  static thread_local bool commits = false;
  disk.before_sync = [&] {
    if (!commits || inside.exchange(true)) return;
    // The other change waits for this sync, as it should, or has met the error.
    while (!armed) std::this_thread::yield();
    wait_until([&] { return failed || sleeps(::getpid()); });
  };
  const bytes content = pattern(7, page);
  std::thread committer([&] {
    commits = true;
    medium::writer w(*m);
    w.stream(m->base(), content.data(), content.size(), medium::purpose::data);
    w.fence(fence_site::pow_commit);
    acknowledged = !m->failed();
  });
  while (!inside) std::this_thread::yield();
  faults::arm(call::fdatasync, 1, EIO);
  armed = true;
  if (what == change::longer)
    EXPECT_EQ(m->grow(pages * page, more * page), EIO);
  else
    m->cut(pages * page);
  EXPECT_TRUE(faults::disarm().hit);
  EXPECT_EQ(m->failure(), EIO) << "the other sync gets no error";
  failed = true;
  committer.join();
  bytes left = disk.after_power_failure(random);
  left.resize(page);
  EXPECT_TRUE(!acknowledged || left == content) << "the acknowledged bytes are lost";
}

TEST(growth_sync, TakesNoErrorFromACommit) {
  for (const bool by_calls : {false, true}) beside_a_commit(by_calls, change::longer);
}

TEST(growth_sync, NorDoesACut) {
  for (const bool by_calls : {false, true}) beside_a_commit(by_calls, change::shorter);
}

}  // namespace
}  // namespace scute::test
