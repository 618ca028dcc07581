// SPDX-License-Identifier: BSD-3-Clause
// Runs inputs without libFuzzer: those in files, and random ones made from them.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base_image.hpp"
#include "guard.hpp"
#include "input_mutator.hpp"
#include "program.hpp"
#include "run.hpp"

namespace scute::fuzz {
namespace {

using clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

constexpr const char* help = R"(Usage: scute-fuzz [OPTIONS] [FILE|FOLDER]...

Runs inputs against the library. An input is a small programme: a pool, damage to its bytes, and
what is then done with it. Files, and all files of folders, are run as they are. With --runs or
--seconds random inputs follow, made by changing those.

Options
  --runs N      random inputs to run
  --seconds N   run random inputs for so long
  --seed S      of the random inputs (default: from the clock; it is printed)
  --timeout S   seconds after which an input counts as hanging (default 20; 0: never)
  --save DIR    where the input that fails is saved (default: the current folder)
  --explain     print what each file means, and do not run it
  --images      list the base images
  --plant BUG   lie, crash or hang: every input does that besides, which must be noticed
  --help        print this text

Exit status: 0 nothing failed; 1 an input failed (a crash, a hang, a broken promise; the sanitizers
of a sanitizer build have statuses of their own); 2 wrong usage, or a file cannot be read.

Examples
  scute-fuzz FOLDER...                 the inputs in them, as the test fuzz/corpus does
  scute-fuzz --runs 100000 --seed 7 FOLDER
  scute-fuzz --explain failure-0123456789abcdef
)";

struct settings {
  uint64_t runs = 0, seconds = 0;
  uint64_t seed = 0;
  bool seeded = false;
  unsigned timeout = 20;
  std::string save = ".";
  bool explain = false, images = false;
  std::vector<std::string> paths;
};

[[noreturn]] void wrong(const std::string& what) {
  std::fprintf(stderr, "scute-fuzz: %s; --help explains the usage\n", what.c_str());
  std::exit(2);
}

uint64_t number(const char* name, const char* text) {
  char* end = nullptr;
  errno = 0;
  const uint64_t n = std::strtoull(text, &end, 0);
  if (end == text || *end != '\0' || errno != 0 || text[0] == '-')
    wrong(std::string(name) + " needs a number");
  return n;
}

settings parse(int argc, char** argv) {
  settings s;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&] {
      if (++i == argc) wrong(a + " needs a value");
      return argv[i];
    };
    if (a == "--runs") {
      s.runs = number("--runs", value());
    } else if (a == "--seconds") {
      s.seconds = number("--seconds", value());
    } else if (a == "--seed") {
      s.seed = number("--seed", value());
      s.seeded = true;
    } else if (a == "--timeout") {
      s.timeout = static_cast<unsigned>(number("--timeout", value()));
    } else if (a == "--save") {
      s.save = value();
    } else if (a == "--explain") {
      s.explain = true;
    } else if (a == "--images") {
      s.images = true;
    } else if (a == "--plant") {
      const std::string bug = value();
      planted = bug == "lie"     ? plant::lie
                : bug == "crash" ? plant::crash
                : bug == "hang"  ? plant::hang
                                 : plant::nothing;
      if (planted == plant::nothing) wrong("there is no bug '" + bug + "' to plant");
    } else if (a == "--help" || a == "-h") {
      std::fputs(help, stdout);
      std::exit(0);
    } else if (a.starts_with("-")) {
      wrong("there is no option " + a);
    } else {
      s.paths.push_back(a);
    }
  }
  return s;
}

struct named_input {
  std::string name;
  input content;
};

std::vector<named_input> load(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& p : paths) {
    if (!fs::is_directory(p)) {
      files.push_back(p);
      continue;
    }
    const size_t before = files.size();
    for (const auto& e : fs::recursive_directory_iterator(p))
      if (e.is_regular_file() && e.path().extension() != ".md") files.push_back(e.path().string());
    std::sort(files.begin() + static_cast<ptrdiff_t>(before), files.end());
  }
  std::vector<named_input> inputs;
  for (const auto& f : files) {
    std::ifstream in(f, std::ios::binary);
    if (!in) wrong("cannot read " + f);
    inputs.push_back({f, {std::istreambuf_iterator<char>(in), {}}});
  }
  return inputs;
}

// A line every few seconds, or one that is rewritten on a terminal.
class progress {
 public:
  explicit progress(const char* what) : what_(what) {}
  void report(uint64_t done, uint64_t total, bool last = false) {
    if (!last && done % 64 != 0) return;
    const auto now = clock::now();
    const auto pause = std::chrono::milliseconds(terminal_ ? 200 : 5000);
    if (!last && now - reported_at_ < pause) return;
    reported_at_ = now;
    const double s = std::chrono::duration<double>(now - start_).count();
    std::fprintf(stderr, "%s%s: %llu", terminal_ ? "\r" : "", what_,
                 static_cast<unsigned long long>(done));
    if (total != 0) std::fprintf(stderr, " of %llu", static_cast<unsigned long long>(total));
    std::fprintf(stderr, " inputs, %.0f s, %.0f per second%s", s,
                 s > 0 ? static_cast<double>(done) / s : 0.0, terminal_ && !last ? "  " : "\n");
  }

 private:
  const char* what_;
  const bool terminal_ = ::isatty(2) != 0;
  const clock::time_point start_ = clock::now();
  clock::time_point reported_at_ = start_;
};

void replay(const std::vector<named_input>& inputs) {
  progress bar("replay");
  uint64_t done = 0;
  for (const auto& i : inputs) {
    const std::string note = ": " + i.name;
    guard_begin(i.content, note.c_str());
    run(i.content);
    guard_end();
    bar.report(++done, inputs.size());
  }
  bar.report(done, inputs.size(), true);
}

void random_runs(const settings& s, const std::vector<named_input>& inputs) {
  const uint64_t seed =
      s.seeded ? s.seed : static_cast<uint64_t>(clock::now().time_since_epoch().count());
  std::fprintf(stderr, "random: --seed %llu\n", static_cast<unsigned long long>(seed));
  const std::string note = " (--seed " + std::to_string(seed) + ")";
  std::mt19937_64 random(seed);
  progress bar("random");
  const auto until = clock::now() + std::chrono::seconds(s.seconds);
  uint64_t done = 0;
  while ((s.runs == 0 || done < s.runs) && (s.seconds == 0 || clock::now() < until)) {
    input in;
    const bool fresh = inputs.empty() || random() % 2 == 0;
    in = fresh ? fresh_input(random) : inputs[random() % inputs.size()].content;
    if (!fresh || random() % 2 == 0) mutate_input(in, random);
    if (in.size() > input_size_max) in.resize(input_size_max);
    guard_begin(in, note.c_str());
    run(in);
    guard_end();
    bar.report(++done, s.runs);
  }
  bar.report(done, s.runs, true);
}

void list_images() {
  const auto& all = base_images();
  for (size_t i = 0; i < all.size(); ++i)
    std::printf("%2zu  %-18s %4zu KiB  %s  %zu objects, %zu ring and %zu undo entries, %zu links\n",
                i, all[i].name.c_str(), all[i].content.size() / 1024,
                all[i].clean ? "clean  " : "unclean", all[i].objects.size(), all[i].ring.size(),
                all[i].undo.size(), all[i].links.size());
}

int main(int argc, char** argv) {
  const settings s = parse(argc, argv);
  if (s.images) {
    list_images();
    return 0;
  }
  const std::vector<named_input> inputs = load(s.paths);
  if (s.explain) {
    for (const auto& i : inputs) {
      const program p = decode(i.content);
      std::printf("%s: on \"%s\"\n%s", i.name.c_str(),
                  base_images()[p.image % base_images().size()].name.c_str(), describe(p).c_str());
    }
    return 0;
  }
  if (inputs.empty() && s.runs == 0 && s.seconds == 0) wrong("there is nothing to do");
  guard_install(s.save, argv[0], s.timeout);
  base_images();
  replay(inputs);
  if (s.runs != 0 || s.seconds != 0) random_runs(s, inputs);
  return 0;
}

}  // namespace
}  // namespace scute::fuzz

int main(int argc, char** argv) {
  return scute::fuzz::main(argc, argv);
}
