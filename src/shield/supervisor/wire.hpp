// SPDX-License-Identifier: BSD-3-Clause
// The messages between a shielded program and its supervisor, over a Unix socket of packets. Each
// image of a program (a process, from its start or an exec on) has a connection of its own, which
// ends with the image.
//
// WIRE-1 The program asks, and the supervisor answers each question with one packet. The program
//    waits for it, so the supervisor has finished its work for the question when the program
//    continues.
// WIRE-2 A view's two memory files have been handed over before the program can store to it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "scute/shield_run.h"

namespace scute::core::supervisor {

// The environment of a shielded program.
constexpr const char* supervisor_variable =
    "SCUTE_SHIELD_SUPERVISOR";  // the supervisor's socket, an abstract name
constexpr const char* windows_variable = "SCUTE_SHIELD_WINDOWS";  // "off": every fence commits
constexpr const char* allow_variable =
    "SCUTE_SHIELD_ALLOW";  // objects with inline flushes, separated by colons
constexpr const char* unflushed_variable = "SCUTE_SHIELD_UNFLUSHED";  // "drop"
constexpr const char* audit_variable =
    "SCUTE_SHIELD_AUDIT";  // "sites": counts by places in the source
constexpr const char* memory_variable = "SCUTE_SHIELD_MEMORY";  // bytes, or "none"
constexpr const char* views_variable = "SCUTE_SHIELD_VIEWS";    // the folder that views lie in
constexpr const char* pages_variable =
    "SCUTE_SHIELD_PAGES";  // "touched": loaded on first access; "huge": pages of 2 MiB
constexpr const char* strays_variable = "SCUTE_SHIELD_STRAYS";  // "report", "stop", "ignore"

constexpr uint32_t wire_version = 4;

enum class question : uint32_t {
  hello = 1,  // version: the image is there
  // device, inode, path: the image is about to open the file. The supervisor has written back what
  // dead images had left for it, and keeps it (SUPLOCK-1). Or an error number: EBUSY if another
  // supervisor keeps it.
  claim = 2,
  hold = 3,     // device, inode, path, view, and two descriptors: the view's head, and its bytes
  release = 4,  // view, audit: the program has closed it, and the file has everything
  // device, inode of a view's bytes: the answer has the path of its file, or an error number: EBUSY
  // if an image still has the view
  whose = 5,
  disclaim = 6,  // device, inode: the file was not opened
};

struct packet {
  uint32_t version = wire_version;
  question kind = question::hello;
  int32_t value = 0;  // an answer: 0, or an error number
  uint32_t view = 0;
  uint64_t device = 0, inode = 0;
  scute_shield_counts audit = {};  // with release
  uint32_t path_length = 0;
  char path[4096] = {};
};

// Sends and receives one packet, with up to two descriptors. False with errno; EPIPE: the other
// side is gone.
bool send_packet(int socket, const packet& p, const int* descriptors, size_t count);
// count: room for so many descriptors; becomes the number received.
bool receive_packet(int socket, packet& p, int* descriptors, size_t& count);

// All 0 if the name is not usable.
struct address {
  alignas(8) unsigned char bytes[128] = {};
  uint32_t length = 0;
};
address abstract_address(const std::string& name);

}  // namespace scute::core::supervisor
