// SPDX-License-Identifier: BSD-3-Clause
// Makes system calls and allocations of the calling thread fail. The functions of the C library are
// replaced for the whole program. They do what they always do while no failure is requested.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace scute::test {

enum class call : uint8_t {
  memory,  // malloc and its relatives, operator new
  mmap,
  open,
  fcntl,
  fstat,
  fstatfs,
  ftruncate,
  fallocate,
  msync,
  fdatasync,
  fsync,
  pread,
  pwrite,
  getrandom,
  rename,
  linkat,
  unlink,
  access,
  count_
};
inline constexpr size_t call_count = static_cast<size_t>(call::count_);
const char* call_name(call c);

namespace faults {

// From now on the thread's calls are counted; the nth of kind c, and with `lasting` all after it,
// fails with this errno. Clears the counts.
void arm(call c, uint64_t nth, int error, bool lasting = false);
// Counts only.
void count();
// Calls of each kind since, and whether one was made to fail.
struct outcome {
  std::array<uint64_t, call_count> calls{};
  bool hit = false;
};
outcome disarm();

// For an operation that another thread carries out: the plan of this thread holds for the other one
// as long as it has `taken_over`, and disarm() here reports on it.
struct plan;
plan* hand_over();
class taken_over {
 public:
  explicit taken_over(plan* from);
  ~taken_over();
  taken_over(const taken_over&) = delete;
  taken_over& operator=(const taken_over&) = delete;

 private:
  plan* from_;
};

// Bytes that mincore() was asked about, by all threads.
uint64_t residency_asked();

// All calls of that kind by any thread fail, until the error is 0.
void always(call c, int error);

// Prints the situation on stderr if the process is aborted or crashes meanwhile.
void describe(const std::string& situation);

}  // namespace faults
}  // namespace scute::test
