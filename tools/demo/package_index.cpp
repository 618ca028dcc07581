// SPDX-License-Identifier: BSD-3-Clause
#include "package_index.hpp"

#include "child.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string_view>

namespace scute_demo {

namespace {

namespace fs = std::filesystem;

constexpr const char* lists_folder = "/var/lib/apt/lists";
constexpr const char* status_file = "/var/lib/dpkg/status";
constexpr const char* apt_helper = "/usr/lib/apt/apt-helper";  // opens whatever apt stores

std::string plain_contents(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string output_of(const command& arguments) {
  pipe_reader reader(arguments);
  std::string text = reader.read_all();
  if (reader.wait() != 0) throw std::runtime_error(command_text(arguments) + ": failed");
  return text;
}

std::string contents(const fs::path& file) {
  const std::string extension = file.extension();
  const bool compressed = extension == ".lz4" || extension == ".gz" || extension == ".xz" ||
                          extension == ".bz2" || extension == ".zst";
  if (!compressed) return plain_contents(file);
  if (access(apt_helper, X_OK) == 0) return output_of({apt_helper, "cat-file", file});
  if (extension == ".lz4") return output_of({"lz4", "-dc", file});
  if (extension == ".gz") return output_of({"gzip", "-dc", file});
  if (extension == ".xz") return output_of({"xz", "-dc", file});
  if (extension == ".bz2") return output_of({"bzip2", "-dc", file});
  return output_of({"zstd", "-dc", file});
}

// bookworm_main_binary-amd64_Packages, whatever the compression
std::string index_name(const fs::path& file) {
  std::string name = file.filename();
  const std::string suffix = "_Packages";
  return name.substr(0, name.rfind(suffix) + suffix.size());
}

std::set<fs::path> list_files() {
  std::set<fs::path> files;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(lists_folder, error)) {
    const std::string name = entry.path().filename();
    const size_t at = name.rfind("_Packages");
    if (at == std::string::npos || !entry.is_regular_file(error)) continue;
    const std::string_view rest = std::string_view(name).substr(at + 9);
    if (rest.empty() || rest.front() == '.') files.insert(entry.path());
  }
  return files;
}

std::string field(std::string_view stanza, std::string_view name) {
  const std::string start = std::string(name) + ": ";
  size_t at = 0;
  if (!stanza.starts_with(start)) {
    at = stanza.find("\n" + start);
    if (at == std::string_view::npos) return "-";
    ++at;
  }
  const size_t begin = at + start.size();
  return std::string(stanza.substr(begin, stanza.find('\n', begin) - begin));
}

void add_stanza(package_index& index, std::string_view stanza, const std::string& source) {
  const std::string base = field(stanza, "Package") + " " + field(stanza, "Version") + " " +
                           field(stanza, "Architecture") + " " + source;
  std::string key = base;
  for (uint64_t n = 2; index.stanzas.contains(key); ++n) key = base + " #" + std::to_string(n);
  index.bytes += key.size() + stanza.size();
  index.stanzas.emplace(std::move(key), stanza);
}

// A stanza reaches up to and including its last newline; empty lines separate stanzas.
void add_stanzas(package_index& index, std::string_view text, const std::string& source,
                 uint64_t limit) {
  size_t at = 0;
  while (at < text.size() && index.stanzas.size() < limit) {
    if (text[at] == '\n') {
      ++at;
      continue;
    }
    const size_t gap = text.find("\n\n", at);
    const size_t end = gap == std::string_view::npos ? text.size() : gap + 1;
    add_stanza(index, text.substr(at, end - at), source);
    at = end;
  }
}

}  // namespace

package_index read_package_index(uint64_t limit) {
  package_index index;
  for (const fs::path& file : list_files()) {
    if (index.stanzas.size() >= limit) break;
    ++index.indexes;
    add_stanzas(index, contents(file), index_name(file), limit);
  }
  if (index.stanzas.empty()) {
    index.indexes = 1;
    add_stanzas(index, plain_contents(status_file), "dpkg-status", limit);
  }
  if (index.stanzas.empty())
    throw std::runtime_error(std::string("there is no package index in ") + lists_folder +
                             " (run `apt-get update`) and nothing in " + status_file);
  return index;
}

}  // namespace scute_demo
