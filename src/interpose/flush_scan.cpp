// SPDX-License-Identifier: BSD-3-Clause
#include "interpose/flush_scan.hpp"

#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

#include "interpose/instruction.hpp"
#include "scute/shield_hooks.h"

namespace scute::core::interpose {
namespace {

// Decodings that start one byte apart fall into step within a few instructions.
constexpr size_t run_up = 96, decodings = 24, prefixes_max = 4;

bool begins_at(std::span<const uint8_t> code, size_t opcode) noexcept {
  const size_t first = opcode > run_up ? opcode - run_up : 0;
  size_t reached = 0, tried = 0;
  for (size_t start = first; start < first + decodings && start <= opcode; ++start, ++tried) {
    size_t at = start;
    while (at < opcode) {
      if (at + prefixes_max >= opcode && flush_begins(code, at)) break;
      const size_t n = instruction_length(code.subspan(at));
      at += n == 0 ? 1 : n;
    }
    if (at <= opcode) ++reached;
  }
  return 2 * reached > tried;
}

std::string_view last_part(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

bool named_in(const std::string& list, std::string_view path) {
  size_t begin = 0;
  while (begin < list.size()) {
    const size_t end = std::min(list.find(':', begin), list.size());
    const std::string_view name(list.data() + begin, end - begin);
    if (!name.empty() && (name == path || name == last_part(path))) return true;
    begin = end + 1;
  }
  return false;
}

bool is_exempt(std::string_view path) {
  // libcrypto, which libpmem brings along, flushes a few bytes of its own stack, to time it (OPENSSL_instrument_bus).
  constexpr std::string_view exempt[] = {
      "libc.so",     "libc-2.",     "ld-linux",           "linux-vdso",    "libpmem.so",
      "libpmem2.so", "libscute.so", "libscute-shield.so", "libpthread.so", "libcrypto.so"};
  const std::string_view name = last_part(path);
  return std::any_of(std::begin(exempt), std::end(exempt),
                     [&](std::string_view known) { return name.starts_with(known); });
}

struct object {
  uintptr_t base = 0;
  std::string path;
  std::vector<std::span<const uint8_t>> code;
  const scute_shield_note_image* image = nullptr;
};

const scute_shield_note_image* image_note(const uint8_t* at, size_t n) {
  while (n >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) head;
    std::memcpy(&head, at, sizeof head);
    const size_t owner = sizeof head, text = owner + ((head.n_namesz + 3u) & ~3u);
    const size_t end = text + ((head.n_descsz + 3u) & ~3u);
    if (end > n) return nullptr;
    if (head.n_type == SCUTE_SHIELD_NOTE_IMAGE && head.n_namesz == sizeof SCUTE_SHIELD_NOTE_OWNER &&
        std::memcmp(at + owner, SCUTE_SHIELD_NOTE_OWNER, head.n_namesz) == 0 &&
        head.n_descsz >= sizeof(scute_shield_note_image)) {
      const auto* note = reinterpret_cast<const scute_shield_note_image*>(at + text);
      if (note->version == SCUTE_SHIELD_HOOKS_VERSION) return note;
    }
    at += end;
    n -= end;
  }
  return nullptr;
}

std::string program_path() {
  char path[4096];
  const ssize_t n = ::readlink("/proc/self/exe", path, sizeof path);
  return n > 0 ? std::string(path, static_cast<size_t>(n)) : "the program";
}

int collect(dl_phdr_info* info, size_t, void* to) {
  object o;
  o.base = info->dlpi_addr;
  o.path = info->dlpi_name != nullptr && info->dlpi_name[0] != 0 ? info->dlpi_name : program_path();
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& p = info->dlpi_phdr[i];
    const auto* at = reinterpret_cast<const uint8_t*>(info->dlpi_addr + p.p_vaddr);
    if (p.p_type == PT_LOAD && (p.p_flags & PF_X) != 0) o.code.emplace_back(at, p.p_memsz);
    if (p.p_type == PT_NOTE && o.image == nullptr) o.image = image_note(at, p.p_memsz);
  }
  static_cast<std::vector<object>*>(to)->push_back(std::move(o));
  return 0;
}

std::vector<object> loaded_objects() {
  std::vector<object> all;
  ::dl_iterate_phdr(&collect, &all);
  const auto last =
      std::remove_if(all.begin(), all.end(), [](const object& o) { return is_exempt(o.path); });
  all.erase(last, all.end());
  return all;
}

// SCAN-2. What stands before a flush may look like a prefix of it, as the distance of a jump does; the instruction of the table may
// begin behind that. So the table has it if an entry has the same opcode.
bool in_table(const scute_shield_note_image* image, const uint8_t* flush) {
  if (image == nullptr) return false;
  const auto follow = [](const int32_t* field) {
    return reinterpret_cast<const int32_t*>(reinterpret_cast<uintptr_t>(field) +
                                            static_cast<uintptr_t>(intptr_t{*field}));
  };
  const uint8_t* opcode = flush;
  while (*opcode != 0x0f) ++opcode;
  const int32_t *at = follow(&image->flushes), *const end = follow(&image->flushes_end);
  for (; at < end; ++at)
    if (const auto* known = reinterpret_cast<const uint8_t*>(follow(at));
        known >= flush && known <= opcode)
      return true;
  return false;
}

// Bases of what was looked through and found clean. An object that was unloaded, and another one at its place, has another path.
std::vector<std::pair<uintptr_t, std::string>>& clean_objects() {
  static auto& known = *new std::vector<std::pair<uintptr_t, std::string>>;
  return known;
}

}  // namespace

size_t find_flush(std::span<const uint8_t> code, size_t from) noexcept {
  for (size_t at = from; at + 2 < code.size(); ++at) {
    const auto* const hit =
        static_cast<const uint8_t*>(std::memchr(code.data() + at, 0x0f, code.size() - 2 - at));
    if (hit == nullptr) break;
    at = static_cast<size_t>(hit - code.data());
    if (code[at + 1] != 0xae) continue;
    // The first prefix that makes a flush of it.
    for (size_t n = std::min(prefixes_max, at) + 1; n-- > 0;) {
      if (!flush_begins(code, at - n)) continue;
      if (begins_at(code, at)) return at - n;
      break;
    }
  }
  return code.size();
}

found_flush find_inline_flush(const std::string& allowed) {
  for (const object& o : loaded_objects()) {
    const std::pair<uintptr_t, std::string> name{o.base, o.path};
    if (std::find(clean_objects().begin(), clean_objects().end(), name) != clean_objects().end())
      continue;
    if (named_in(allowed, o.path)) continue;
    for (const std::span<const uint8_t> code : o.code)
      for (size_t at = find_flush(code, 0); at < code.size();
           at = find_flush(code, at + instruction_length(code.subspan(at)))) {
        if (in_table(o.image, code.data() + at)) continue;
        return {o.path, reinterpret_cast<uintptr_t>(code.data()) + at - o.base, o.image != nullptr};
      }
    clean_objects().push_back(name);
  }
  return {};
}

bool all_instrumented() {
  const std::vector<object> all = loaded_objects();
  return std::all_of(all.begin(), all.end(), [](const object& o) { return o.image != nullptr; });
}

}  // namespace scute::core::interpose
