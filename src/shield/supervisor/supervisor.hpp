// SPDX-License-Identifier: BSD-3-Clause
// Runs a program and keeps its views over its death.
//
// SUPER-1 A view belongs to the image that opened it. When that image has ended, its view is
//    written back, once, before any program learns that the file is free.
// SUPER-2 Ends are handled before questions: the views of an image that exec has replaced are
//    written back before the new image gets an answer.
// SUPER-3 The supervisor touches no file of the program while the program has it open. Of
//    FILE.scute it has a lock (SUPLOCK-1), and no byte.
// SUPER-4 An image may inherit a descriptor of a view's bytes whose view no image has any more; it
//    gets the file's name. Bytes written there before the view's end are in the file. Nothing
//    can be written there afterwards (F_SEAL_FUTURE_WRITE).
// SUPER-5 A signal sent to the supervisor goes to the program.
#pragma once

#include <sys/types.h>

#include <list>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "base/locks/supervisor_lock.hpp"
#include "scute/shield_run.h"
#include "shield/supervisor/crash_writeback.hpp"
#include "shield/supervisor/wire.hpp"

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
  // Returns false if the connection has ended.
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
    size_t images = 0;  // images that have claimed it
  };
  std::map<file_key, kept_file> kept_;  // SUPLOCK-1
  // Which views belong to which files, the newest first; also views that have ended, since their
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
