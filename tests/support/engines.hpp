// SPDX-License-Identifier: BSD-3-Clause
// The engine of pools whose test names none. SCUTE_TEST_ENGINE chooses it for a run: an engine's
// name, or `rotate`, where each suite has one of the three by its name. Empty: the library's
// choice. A test that asks for the engine depends on it. With SCUTE_TEST_ASKED=FILE the name of
// each test that asks is written there, so that runs with further engines (cmake/run-cases.sh)
// repeat these tests and no others.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace scute::test {

// That of a suite in a rotation. nullptr: what the library chooses.
inline const char* engine_of_suite(std::string_view suite) {
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : suite) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  constexpr const char* engines[] = {nullptr, "redo", "spec"};
  return engines[hash % 3];
}

inline const char* engine_of_run() {
  const ::testing::TestInfo* const test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (const char* path = std::getenv("SCUTE_TEST_ASKED"); path != nullptr && test != nullptr) {
    // The thread may be one that is cancelled in whatever it calls.
    int before = 0;
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    const int fd = ::open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    const std::string line = std::string(test->test_suite_name()) + "." + test->name() + "\n";
    EXPECT_EQ(static_cast<ssize_t>(line.size()), ::write(fd, line.data(), line.size()));
    ::close(fd);
    ::pthread_setcancelstate(before, nullptr);
  }
  const char* const setting = std::getenv("SCUTE_TEST_ENGINE");
  if (setting == nullptr || *setting == 0) return nullptr;
  if (std::string_view(setting) != "rotate") return setting;
  return test == nullptr ? nullptr : engine_of_suite(test->test_suite_name());
}

}  // namespace scute::test
