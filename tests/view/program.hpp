// SPDX-License-Identifier: BSD-3-Clause
// Programs for the view, made at random from a seed.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace scute::view_tests {

enum class act : uint8_t {
  store,
  flush,
  nt_store,
  fence,
  clflush,
  locked,  // orders what was flushed, and the view does not see it
  publish,
  await,
  window_begin,
  window_end,
  sync,
  flush_many,
  let_go,  // of the line's page
};

struct instruction {
  act what;
  uint64_t line = 0;
  unsigned word = 0;
};

// The features that a scenario has in its programs.
struct program_kind {
  uint64_t lines = 4, file_lines = 128;
  unsigned instructions = 12;  // of each thread
  bool windows = false, many = false, storm = false, torn = false, sync = true, one_list = false;
  bool handlers = false;  // that flush and fence wherever the view can be interrupted
  bool deaths = false;    // of the process, at every switch point
  bool damage = false;    // of the medium
  bool contents = false;  // the file has some before the view is made
  bool pages = false;     // they come when they are touched, and the lines lie in two of them
};

inline std::string text_of(const instruction& i) {
  static const char* const names[] = {"store",  "flush",     "nt_store", "fence",    "clflush",
                                      "locked", "publish",   "await",    "window {", "window }",
                                      "msync",  "flush all", "let go"};
  std::string t = names[static_cast<unsigned>(i.what)];
  if (i.what == act::store || i.what == act::nt_store)
    t += " line " + std::to_string(i.line) + " word " + std::to_string(i.word);
  else if (i.what == act::flush || i.what == act::clflush || i.what == act::sync ||
           i.what == act::let_go)
    t += " line " + std::to_string(i.line);
  return t;
}

// Of thread 0 or 1. Only 1 awaits, so they cannot wait for each other.
inline std::vector<instruction> program_of(const program_kind& k, unsigned thread,
                                           std::mt19937_64& random) {
  const auto below = [&](uint64_t n) { return random() % n; };
  std::vector<instruction> p;
  int open = 0;
  bool published = false;
  const unsigned wanted = k.storm && thread == 0 ? k.instructions / 4 : k.instructions;
  while (p.size() < wanted) {
    const uint64_t line = below(k.lines) * (k.pages ? 40 : 1);
    const auto word = static_cast<unsigned>(below(8));
    if (k.storm) {
      // Little but flushes with an order among them, so that lists grow while a commit set copies.
      p.push_back({act::store, line, word});
      if (below(4) != 0) p.push_back({act::flush, line});
      p.push_back({thread == 0 && below(3) == 0 ? act::fence : act::locked});
      continue;
    }
    if (k.torn) {
      // One writes back what the other one only stores to.
      if (thread == 0) {
        p.push_back({act::flush, line});
        if (below(2) == 0) p.push_back({act::fence});
      } else {
        p.push_back({act::store, line, word});
      }
      continue;
    }
    if (k.pages && below(6) == 0) p.push_back({act::let_go, line});
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        p.push_back({act::store, line, word});
        if (below(3) == 0) p.push_back({act::store, line, static_cast<unsigned>(below(8))});
        if (below(3) != 0) p.push_back({act::flush, line});
        break;
      case 5:
      case 6: p.push_back({act::flush, line}); break;
      case 7: p.push_back({act::nt_store, line, word}); break;
      case 8:
      case 9: p.push_back({act::fence}); break;
      case 10: p.push_back({act::clflush, line}); break;
      case 11:
      case 12: p.push_back({act::locked}); break;
      case 13:
        if (published) break;
        published = true;
        p.push_back({thread == 0 ? act::publish : act::await});
        break;
      case 14:
        if (!k.windows) break;
        if (open > 0 && below(2) == 0) {
          --open;
          p.push_back({act::window_end});
        } else if (open < 3) {
          ++open;
          p.push_back({act::window_begin});
        }
        break;
      default:
        if (k.many)
          p.push_back({act::flush_many});
        else if (k.sync && below(2) == 0)
          p.push_back({act::sync, line});
    }
  }
  for (; open > 0; --open) p.push_back({act::window_end});
  if (thread == 0 && !published) p.push_back({act::publish});
  return p;
}

}  // namespace scute::view_tests
