// SPDX-License-Identifier: BSD-3-Clause
// The process as a whole: how it begins, forks and ends.
//
// LIFE-1 Everything is ready before any constructor of the program that could open a file, and
//    works even if one runs earlier.
// LIFE-2 A child of fork() finds complete tables, and nothing of its parent's open (GUARD-4;
//    process/forking.hpp).
// LIFE-3 An exit writes the bytes of the views, and leaves none in a log alone, so that damage at
//    that time loses nothing: an exit is no crash. The views stay open: other threads, and objects
//    destroyed later, may still store. The supervisor finds those stores.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <spawn.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>

#include "base/failure.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/descriptors/descriptors.hpp"
#include "shield/interpose/descriptors/guarded_file.hpp"
#include "shield/interpose/descriptors/inherited_fds.hpp"
#include "shield/interpose/descriptors/shielding.hpp"
#include "shield/interpose/memory/page_in.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/forking.hpp"
#include "shield/interpose/process/last_thread.hpp"
#include "shield/interpose/process/program_threads.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/signals/deferred_signals.hpp"

using namespace scute::core::interpose;

// vfork() returns twice from one frame, so no function can wrap the C library's: ours jumps there.
// If pages are loaded on first access, or before the first constructor, it calls fork(), which
// POSIX permits for vfork().
extern "C" {
[[gnu::used, gnu::visibility("hidden")]] pid_t (*scute_real_vfork)() = nullptr;
}

namespace {

[[gnu::constructor(102)]] void begin() {
  next::look_up_early();
  remember_standard_error();
  find_threads_of_libc();
  watch_main_thread();
  [[maybe_unused]] const settings& current = asked();  // read now (LIFE-1)
#ifdef __x86_64__
  if (!current.page_in) scute_real_vfork = next::vfork.get();
#endif
  own_tables();
  own_handlers();
  try {
    handle_forks();
  } catch (const scute::core::
               failure&) {  // NOLINT(bugprone-empty-catch): the first opening tries it again
  }
}

// Runs after the other constructors of this library.
[[gnu::constructor]] void begin_with_descriptors() {
  take_over_descriptors();
}

[[gnu::destructor(101)]] void end() {
  const critical now;
  for (guarded_file* f = guarded_file::first(); f != nullptr; f = f->next())
    if (f->is_open())
      guarded(f->path(), [&] {
        f->write_back(0, ~uint64_t{0}, scute::core::view::write_reason::end);
        f->drain();
      });
}

}  // namespace

// Runs no fork handlers except ours: the child is like one of fork() (LIFE-2).
SCUTE_INTERPOSED(pid_t, _Fork, ()) {
  begin_fork();
  const pid_t child = next::bare_fork();
  if (child == 0)
    end_fork_in_child();
  else
    end_fork_in_parent();
  return child;
}
// Children made without any handlers: their accesses load no pages (PAGEIN-4).
SCUTE_INTERPOSED(int, clone, (int (*f)(void*), void* stack, int flags, void* argument, ...)) {
  va_list more;
  va_start(more, argument);
  void* a[3];
  for (void*& x : a) x = va_arg(more, void*);
  va_end(more);
  if ((flags & CLONE_VM) == 0)
    load_all_views();
  else
    threads_come_unintercepted();
  return next::clone(f, stack, flags, argument, a[0], a[1], a[2]);
}
SCUTE_INTERPOSED_ALIAS(int, __clone, clone,
                       (int (*f)(void*), void* stack, int flags, void* argument, ...));
// THREADS-3
SCUTE_INTERPOSED(int, pthread_create,
                 (pthread_t * thread, const pthread_attr_t* attributes, void* (*f)(void*),
                  void* argument)) {
  threads_come();
  return next::pthread_create(thread, attributes, f, argument);
}
SCUTE_INTERPOSED(int, thrd_create, (thrd_t * thread, thrd_start_t f, void* argument)) {
  threads_come();
  return next::thrd_create(thread, f, argument);
}
// The C library opens that file without an intercepted call. The file is taken over (INHERIT-4),
// and must not be truncated before.
SCUTE_INTERPOSED(int, posix_spawn_file_actions_addopen,
                 (posix_spawn_file_actions_t * actions, int fd, const char* path, int flags,
                  mode_t mode)) {
  return cuts_shielded(AT_FDCWD, path, flags)
             ? EBUSY
             : next::posix_spawn_file_actions_addopen(actions, fd, path, flags, mode);
}
// The children have the descriptors that are not close-on-exec, and those in `actions`.
SCUTE_INTERPOSED(int, posix_spawn,
                 (pid_t * pid, const char* path, const posix_spawn_file_actions_t* actions,
                  const posix_spawnattr_t* attributes, char* const* argv, char* const* envp)) {
  prepare_inherited_fds(actions != nullptr);
  return next::posix_spawn(pid, path, actions, attributes, argv, envp);
}
SCUTE_INTERPOSED(int, posix_spawnp,
                 (pid_t * pid, const char* name, const posix_spawn_file_actions_t* actions,
                  const posix_spawnattr_t* attributes, char* const* argv, char* const* envp)) {
  prepare_inherited_fds(actions != nullptr);
  return next::posix_spawnp(pid, name, actions, attributes, argv, envp);
}

SCUTE_INTERPOSED(int, system, (const char* command)) {
  prepare_inherited_fds(false);
  return next::system(command);
}
SCUTE_INTERPOSED(FILE*, popen, (const char* command, const char* mode)) {
  prepare_inherited_fds(false);
  return next::popen(command, mode);
}
SCUTE_INTERPOSED_ALIAS(FILE*, _IO_popen, popen, (const char* command, const char* mode));

#ifdef __x86_64__
__asm__(
    ".pushsection .text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    "  endbr64\n"
    "  movq scute_real_vfork(%rip), %rax\n"
    "  testq %rax, %rax\n"
    "  jz 1f\n"
    "  jmp *%rax\n"
    "1:\n"
    "  jmp fork@PLT\n"
    ".size vfork, .-vfork\n"
    ".globl __vfork\n"
    ".set __vfork, vfork\n"
    ".popsection\n");
SCUTE_STANDS_IN(vfork);
SCUTE_STANDS_IN(__vfork);
#endif
