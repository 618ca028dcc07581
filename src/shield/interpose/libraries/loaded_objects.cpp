// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/libraries/loaded_objects.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace scute::core::interpose {
namespace {

// Objects whose flushes the scan ignores (SCAN-1). libcrypto, which libpmem loads, flushes a few
// bytes of its own stack, to time it (OPENSSL_instrument_bus).
constexpr std::string_view exempt[] = {
    "libc.so",     "libc-2.",     "ld-linux",           "linux-vdso",    "libpmem.so",
    "libpmem2.so", "libscute.so", "libscute-shield.so", "libpthread.so", "libcrypto.so"};
// Libraries that come with the language, and with this library. They flush nothing (the scan checks
// them).
constexpr std::string_view of_language[] = {"libm.so", "libgcc_s.so", "libdl.so", "librt.so",
                                            "libstdc++.so"};
// Objects whose stores are reported by their callers (tools/pass/library_calls.hpp), or by the
// runtime; and those that come with the language.
constexpr std::string_view spoken_for[] = {
    "libc.so",     "libc-2.",     "ld-linux",           "linux-vdso", "libpmem.so",
    "libpmem2.so", "libscute.so", "libscute-shield.so", "libpthread"};

bool is_one_of(std::span<const std::string_view> names, std::string_view path) {
  const std::string_view name = name_of(path);
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view known) { return name.starts_with(known); });
}

// Calls f(note type, description) for each note of scute-cc's.
template <class F>
void for_each_note(const uint8_t* at, size_t n, F&& f) {
  while (n >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, at, sizeof head);
    const size_t owner = sizeof head, text = owner + ((head.n_namesz + 3u) & ~3u);
    const size_t end = text + ((head.n_descsz + 3u) & ~3u);
    if (end > n) return;
    if (head.n_namesz == sizeof SCUTE_SHIELD_NOTE_OWNER &&
        std::memcmp(at + owner, SCUTE_SHIELD_NOTE_OWNER, head.n_namesz) == 0)
      f(head.n_type, std::span(at + text, head.n_descsz));
    at += end;
    n -= end;
  }
}

void read_notes(loaded_object& o, const uint8_t* at, size_t n) {
  for_each_note(at, n, [&](uint32_t type, std::span<const uint8_t> text) {
    if (type == SCUTE_SHIELD_NOTE_IMAGE && o.image == nullptr &&
        text.size() >= sizeof(scute_shield_note_image)) {
      const auto* note = reinterpret_cast<const scute_shield_note_image*>(text.data());
      if (note->version == SCUTE_SHIELD_HOOKS_VERSION) o.image = note;
    }
    scute_shield_note_options options;
    if (type != SCUTE_SHIELD_NOTE_OPTIONS || text.size() < sizeof options) return;
    std::memcpy(&options, text.data(), sizeof options);
    o.options = o.compiled ? o.options & options.options : options.options;
    o.compiled = true;
  });
}

std::string program_path() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/thread-self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "the program";
}

int collect(dl_phdr_info* info, size_t, void* to) {
  loaded_object o;
  o.base = info->dlpi_addr;
  o.path = info->dlpi_name != nullptr && info->dlpi_name[0] != 0 ? info->dlpi_name : program_path();
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const auto* at = reinterpret_cast<const uint8_t*>(info->dlpi_addr + p.p_vaddr);
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0) o.code.emplace_back(at, p.p_memsz);
    if (p.p_type == PT_NOTE) read_notes(o, at, p.p_memsz);
  }
  static_cast<std::vector<loaded_object>*>(to)->push_back(std::move(o));
  return 0;
}

std::vector<loaded_object> all_but(std::span<const std::string_view> names) {
  std::vector<loaded_object> all;
  ::dl_iterate_phdr(&collect, &all);
  std::erase_if(all, [&](const loaded_object& o) { return is_one_of(names, o.path); });
  return all;
}

}  // namespace

std::string_view name_of(std::string_view path) noexcept {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::vector<loaded_object> loaded_objects() {
  return all_but(exempt);
}

bool comes_with_language(std::string_view path) noexcept {
  return is_one_of(of_language, path);
}

store_reporters find_store_reporters() {
  store_reporters found;
  for (const loaded_object& o : all_but(spoken_for)) {
    if (comes_with_language(o.path)) continue;
    if ((o.options & SCUTE_SHIELD_OPTION_DETECT) != 0) {
      found.any = true;
      continue;
    }
    if (!found.unreported.empty()) found.unreported += ", ";
    found.unreported += name_of(o.path);
  }
  return found;
}

}  // namespace scute::core::interpose
