// SPDX-License-Identifier: BSD-3-Clause
// dlopen(3).
//
// LIB-1 A library that flushes unintercepted (flush_scan.hpp) is not loaded while a shielded file
//    is mapped: EPERM, a message, and a text for dlerror(). (Its constructors have run by then.)
// LIB-2 A library is found where the program's own call would have found it. The C library searches
//    on behalf of its caller, which is now this library. So the caller's DT_RUNPATH or DT_RPATH,
//    and $ORIGIN, are evaluated here.
// LIB-3 With RTLD_DEEPBIND a library finds its own dependencies before the program's. It would find
//    the C library before this one, and bypass all of it. So it is loaded without that flag.
#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <string>

#include "shield/interpose/calls/next_call.hpp"
#include "shield/interpose/calls/next_calls.hpp"
#include "shield/interpose/memory/mappings.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/critical.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/interpose/stores/flush_scan.hpp"
#include "shield/interpose/stores/live_audit.hpp"

using namespace scute::core::interpose;

namespace {

// The object with the code at `at`; null: none.
link_map* object_of(const void* at) noexcept {
  Dl_info info;
  void* map = nullptr;
  return ::dladdr1(at, &info, &map, RTLD_DL_LINKMAP) != 0 ? static_cast<link_map*>(map) : nullptr;
}

std::string folder_of(const link_map& object) {
  char path[PATH_MAX];
  const char* const name = object.l_name[0] != 0 ? object.l_name : "/proc/thread-self/exe";
  if (::realpath(name, path) == nullptr) return {};
  const std::string found = path;
  return found.substr(0, found.rfind('/'));
}

// $ORIGIN and ${ORIGIN} are the caller's folder; the C library replaces the rest.
std::string with_origin(std::string path, const link_map& caller) {
  const std::string folder = folder_of(caller);
  if (folder.empty()) return path;
  for (const char* const token : {"${ORIGIN}", "$ORIGIN"})
    for (size_t at = path.find(token); at != path.npos; at = path.find(token, at + folder.size()))
      path.replace(at, std::char_traits<char>::length(token), folder);
  return path;
}

// The text of one of its dynamic entries; null: it has none.
const char* dynamic_text(const link_map& object, ElfW(Sxword) wanted) noexcept {
  const char* texts = nullptr;
  const ElfW(Dyn)* found = nullptr;
  for (const ElfW(Dyn)* d = object.l_ld; d->d_tag != DT_NULL; ++d) {
    if (d->d_tag == DT_STRTAB) texts = reinterpret_cast<const char*>(d->d_un.d_ptr);
    if (d->d_tag == wanted) found = d;
  }
  return texts != nullptr && found != nullptr ? texts + found->d_un.d_val : nullptr;
}

// The path of the file of that name in the first folder of the list that has it; empty: none.
std::string in_folders(const std::string& list, const std::string& name) {
  for (size_t begin = 0; begin < list.size();) {
    const size_t end = std::min(list.find_first_of(":;", begin), list.size());
    const std::string path = list.substr(begin, end - begin) + "/" + name;
    if (end != begin && ::access(path.c_str(), R_OK) == 0) return path;
    begin = end + 1;
  }
  return {};
}

// The library of that name in the caller's own path; empty: there is none, or LD_LIBRARY_PATH,
// which precedes DT_RUNPATH, has one.
std::string in_path_of(const link_map& caller, const std::string& name) {
  const char* const run_path = dynamic_text(caller, DT_RUNPATH);
  const char* const path = run_path != nullptr ? run_path : dynamic_text(caller, DT_RPATH);
  if (path == nullptr) return {};
  const char* const first = run_path != nullptr ? std::getenv("LD_LIBRARY_PATH") : nullptr;
  if (first != nullptr && !in_folders(first, name).empty()) return {};
  return in_folders(with_origin(path, caller), name);
}

bool is_loaded(const char* name) noexcept {
  void* const handle = next::dlopen(name, RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

// LIB-2
void* open_library(const char* name, int how, const void* caller_at) {
  link_map* const caller = name != nullptr ? object_of(caller_at) : nullptr;
  if (caller == nullptr) return next::dlopen(name, how);
  const std::string plain = name;
  std::string path;
  if (plain.find('$') != plain.npos)
    path = with_origin(plain, *caller);
  else if (!plain.empty() && plain.find('/') == plain.npos && !is_loaded(name))
    path = in_path_of(*caller, plain);
  return next::dlopen(path.empty() ? name : path.c_str(), how);
}

}  // namespace

SCUTE_INTERPOSED(void*, dlopen, (const char* name, int how)) {
  const int kept = how & ~RTLD_DEEPBIND;
  void* const handle = open_library(name, kept, __builtin_return_address(0));
  if (handle == nullptr || mappings.empty()) return handle;
  const int keep = errno;
  found_flush found;
  try {
    const critical now;
    found = find_inline_flush(asked().allowed);
    if (!found) plan_audits_again();
  } catch (const std::exception&) {
  }
  errno = keep;
  if (!found) return handle;
  complain(found.object,
           "it flushes cache lines by instructions of its own, which the shield cannot intercept, "
           "and shielded files are mapped; so it is not loaded");
  ::dlclose(handle);
  // There is no such file, so dlerror() reports this text.
  const std::string why = found.object + " (which flushes cache lines unintercepted by the shield)";
  next::dlopen(why.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  errno = EPERM;
  return nullptr;
}
