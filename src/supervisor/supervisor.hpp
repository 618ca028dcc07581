// SPDX-License-Identifier: BSD-3-Clause
// Who runs a program and keeps its views over its death.
//
// SUPER-1 A view belongs to the image that opened it. When that image has ended, what it has left
//    is written back, once, before anybody is told that the file is free.
// SUPER-2 Ends come before questions: an image that another one has replaced is written back before
//         the new one gets an answer.
// SUPER-3 The supervisor itself touches no file of the program while the program has it open; of
//         FILE.scute it has a lock (SUPLOCK-1), and no byte.
// SUPER-4 An image that finds the bytes of a view behind a descriptor that it was given, and whose
//    view nobody has any more, is told the file. What was written there before the end of the view
//    is in it, and nothing can be written there after (F_SEAL_FUTURE_WRITE).
// SUPER-5 A signal that is sent to the supervisor is the program's.
#pragma once

#include <sys/types.h>

#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/supervisor_lock.hpp"
#include "scute/shield_run.h"
#include "supervisor/crash_writeback.hpp"
#include "supervisor/wire.hpp"

namespace scute::core::supervisor {

class supervisor {
 public:
  explicit supervisor(const scute_shield_run_options& options);
  ~supervisor();
  supervisor(const supervisor&) = delete;
  supervisor& operator=(const supervisor&) = delete;

  // Throws failure.
  scute_shield_outcome run(const char* const* argv);

 private:
  using file_key = std::pair<uint64_t, uint64_t>;  // device, inode
  struct image {
    int connection = -1, pidfd = -1;
    pid_t pid = 0;
    bool ended = false;
    std::map<uint32_t, held_view> views;
    std::set<file_key> claims;
  };

  void listen();
  void start(const char* const* argv);
  void serve();
  void accept_image();
  // False: the connection is at its end.
  bool answer_one(image& i);
  int answer(image& i, const packet& p, std::span<const int> descriptors, packet& reply);
  int find_owner(uint64_t device, uint64_t inode, packet& reply);
  void remember(const held_view& view);
  int claim(image& i, const file_key& key, const std::string& path);
  // If it has no view of the file.
  void disclaim(image& i, const file_key& key);
  void write_back_ended(uint64_t device, uint64_t inode);
  void end_image(image& i);
  void report(const image& i, const held_view& view, int signal, scute_shield_counts& audit);
  void take_signals();
  void reap();

  const scute_shield_run_options& options_;
  std::string name_;
  int listening_ = -1, signals_ = -1;
  pid_t child_ = -1;
  bool child_ended_ = false;
  std::list<image> images_;
  struct kept_file {
    supervisor_lock lock;
    size_t images = 0;  // that have claimed it
  };
  std::map<file_key, kept_file> kept_;  // SUPLOCK-1
  // What views were of which files, the newest first; also of views that have ended, since their
  // descriptors may live on.
  struct known_view {
    uint64_t device = 0, inode = 0;  // of its bytes
    std::string path;
    uint64_t file_device = 0, file_inode = 0;
  };
  static constexpr size_t known_max = 4096;
  std::list<known_view> known_;
  scute_shield_outcome outcome_{};
};

}  // namespace scute::core::supervisor
