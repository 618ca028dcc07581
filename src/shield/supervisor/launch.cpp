// SPDX-License-Identifier: BSD-3-Clause
#include "shield/supervisor/launch.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include "base/failure.hpp"
#include "shield/supervisor/runtime_library.hpp"
#include "shield/supervisor/wire.hpp"

namespace scute::core::supervisor {
namespace {

constexpr const char* runtime_name = "libscute-shield.so";

std::string folder_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

std::string own_program() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : std::string();
}

// The path without ".." and links, so that LD_PRELOAD does not depend on links.
std::string resolved(const std::string& path) {
  char* const real = ::realpath(path.c_str(), nullptr);
  if (real == nullptr) return {};
  std::string text = real;
  std::free(real);
  return text;
}

void set(const char* name, const char* value) {
  if (value != nullptr)
    ::setenv(name, value, 1);
  else
    ::unsetenv(name);
}

// The dynamic linker would continue without a library that it cannot load.
std::string require_runtime(std::string path) {
  if (is_runtime_library(path)) return path;
  throw failure(SCUTE_E_INVALID, path +
                                     " is not libscute-shield.so, the shield's runtime library, or "
                                     "not all of it, so the program was not started");
}

}  // namespace

std::string find_runtime(const char* named) {
  if (named != nullptr) {
    std::string path = resolved(named);
    if (path.empty())
      throw failure(SCUTE_E_NOENT, std::string("there is no ") + named +
                                       ", which was named as the shield's runtime library");
    return require_runtime(std::move(path));
  }
  Dl_info self{};
  std::string beside;
  if (::dladdr(reinterpret_cast<const void*>(&find_runtime), &self) != 0 &&
      self.dli_fname != nullptr)
    beside = folder_of(self.dli_fname);
  const std::string program = folder_of(own_program());
  for (const std::string& folder : {beside, program, program + "/../lib",
                                    program + "/../lib/x86_64-linux-gnu", program + "/../../lib"}) {
    if (folder.empty()) continue;
    if (std::string path = resolved(folder + "/" + runtime_name); !path.empty())
      return require_runtime(std::move(path));
  }
  throw failure(SCUTE_E_NOENT,
                std::string("there is no ") + runtime_name +
                    " next to the library or the program; name its path (--runtime)");
}

pid_t launch(const char* const* argv, const scute_shield_run_options& options,
             const std::string& supervisor_name, const signals_inherited& signals) {
  std::string preload = find_runtime(options.runtime);
  if (const char* before = std::getenv("LD_PRELOAD"); before != nullptr && *before != 0)
    preload += std::string(":") + before;
  // The program may change its folder.
  const std::string views = options.view_folder != nullptr
                                ? std::filesystem::absolute(options.view_folder).string()
                                : std::string();
  int failure_pipe[2];
  if (::pipe2(failure_pipe, O_CLOEXEC) != 0) throw_errno("make a pipe", errno);
  const pid_t pid = ::fork();
  if (pid < 0) {
    const int why = errno;
    ::close(failure_pipe[0]);
    ::close(failure_pipe[1]);
    throw_errno("start a process", why);
  }
  if (pid == 0) {
    set("LD_PRELOAD", preload.c_str());
    set(supervisor_variable, supervisor_name.c_str());
    set(windows_variable, (options.flags & SCUTE_SHIELD_NO_WINDOWS) != 0 ? "off" : nullptr);
    set(unflushed_variable, (options.flags & SCUTE_SHIELD_DROP_UNFLUSHED) != 0 ? "drop" : nullptr);
    set(allow_variable, options.allow);
    set(audit_variable, options.site != nullptr || options.finding != nullptr ? "sites" : nullptr);
    const std::string memory =
        options.memory == UINT64_MAX ? "none" : std::to_string(options.memory);
    set(memory_variable, options.memory == 0 ? nullptr : memory.c_str());
    set(views_variable, views.empty() ? nullptr : views.c_str());
    set(pages_variable, (options.flags & SCUTE_SHIELD_PAGE_IN) != 0      ? "touched"
                        : (options.flags & SCUTE_SHIELD_HUGE_PAGES) != 0 ? "huge"
                                                                         : nullptr);
    set(strays_variable, (options.flags & SCUTE_SHIELD_STOP_STRAYS) != 0     ? "stop"
                         : (options.flags & SCUTE_SHIELD_REPORT_STRAYS) != 0 ? "report"
                         : (options.flags & SCUTE_SHIELD_IGNORE_STRAYS) != 0 ? "ignore"
                                                                             : nullptr);
    ::sigaction(SIGPIPE, &signals.broken_pipe, nullptr);
    ::pthread_sigmask(SIG_SETMASK, &signals.blocked, nullptr);
    ::execvp(argv[0], const_cast<char* const*>(argv));
    const int why = errno;
    static_cast<void>(!::write(failure_pipe[1], &why, sizeof why));
    ::_exit(127);
  }
  ::close(failure_pipe[1]);
  int why = 0;
  ssize_t n = 0;
  do n = ::read(failure_pipe[0], &why, sizeof why);
  while (n < 0 && errno == EINTR);
  ::close(failure_pipe[0]);
  if (n == static_cast<ssize_t>(sizeof why)) {
    if (why == ENOENT) throw failure(SCUTE_E_NOENT, std::string("there is no program ") + argv[0]);
    throw_errno(std::string("run ") + argv[0], why);
  }
  return pid;
}

}  // namespace scute::core::supervisor
