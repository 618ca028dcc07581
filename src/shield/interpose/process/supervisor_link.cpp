// SPDX-License-Identifier: BSD-3-Clause
#include "shield/interpose/process/supervisor_link.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "shield/interpose/descriptors/own_descriptors.hpp"
#include "shield/interpose/process/complaint.hpp"
#include "shield/interpose/process/settings.hpp"
#include "shield/supervisor/wire.hpp"

namespace scute::core::interpose {
namespace {

constinit kept_number link;
bool lost = false;

bool ask(supervisor::packet& p, const int* descriptors, size_t count,
         supervisor::packet& reply) noexcept {
  size_t none = 0;
  if (supervisor::send_packet(link.get(), p, descriptors, count) &&
      supervisor::receive_packet(link.get(), reply, nullptr, none))
    return reply.value == 0;
  close_own(link);
  link = kept_number();
  lost = true;
  complain("the shield",
           "the supervisor of this program's views has ended; from now on a kill of the program "
           "keeps only flushed bytes, as a power failure does");
  return false;
}

bool ask(supervisor::packet& p, const int* descriptors, size_t count) noexcept {
  supervisor::packet reply;
  return ask(p, descriptors, count, reply);
}

// Whether the error may pass: there may be room for a descriptor later.
bool is_for_now(int why) noexcept {
  return why == EMFILE || why == ENFILE || why == ENOMEM || why == ENOBUFS;
}

bool connected() noexcept {
  if (link.number() >= 0) return true;
  if (lost || asked().supervisor.empty()) return false;
  lost = true;
  const supervisor::address a = supervisor::abstract_address(asked().supervisor);
  const int fd = a.length != 0 ? ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
  if (fd < 0) {
    lost = !is_for_now(errno);
    return false;
  }
  if (::connect(fd, reinterpret_cast<const sockaddr*>(a.bytes), a.length) == 0) {
    link = kept_number(keep_own(fd));
    if (link.number() < 0) lost = !is_for_now(errno);
  }
  const int why = errno;
  ::close(fd);
  errno = why;
  if (link.number() < 0) return false;
  lost = false;
  supervisor::packet hello;
  return ask(hello, nullptr, 0);
}

void name(supervisor::packet& p, const std::string& path, uint64_t device,
          uint64_t inode) noexcept {
  p.device = device;
  p.inode = inode;
  p.path_length = static_cast<uint32_t>(std::min(path.size(), sizeof p.path - 1));
  std::memcpy(p.path, path.data(), p.path_length);
}

}  // namespace

bool claim_file(const std::string& path, uint64_t device, uint64_t inode) noexcept {
  if (!connected()) return lost || asked().supervisor.empty();
  supervisor::packet p;
  p.kind = supervisor::question::claim;
  name(p, path, device, inode);
  supervisor::packet reply;
  if (ask(p, nullptr, 0, reply) || reply.value == 0) return true;
  errno = reply.value;
  return false;
}

void disclaim_file(uint64_t device, uint64_t inode) noexcept {
  if (link.number() < 0) return;
  supervisor::packet p;
  p.kind = supervisor::question::disclaim;
  p.device = device;
  p.inode = inode;
  ask(p, nullptr, 0);
}

bool has_supervisor() noexcept {
  return link.number() >= 0;
}

bool hand_over_view(uint32_t number, const std::string& path, uint64_t device, uint64_t inode,
                    int head, int bytes) noexcept {
  if (!connected()) return false;
  supervisor::packet p;
  p.kind = supervisor::question::hold;
  p.view = number;
  name(p, path, device, inode);
  const int both[2] = {head, bytes};
  return ask(p, both, 2);
}

void release_view(uint32_t number, const scute_shield_counts& audit) noexcept {
  if (link.number() < 0) return;
  supervisor::packet p;
  p.kind = supervisor::question::release;
  p.view = number;
  p.audit = audit;
  ask(p, nullptr, 0);
}

std::string owner_of(uint64_t device, uint64_t inode) {
  if (!connected()) return {};
  supervisor::packet p, reply;
  p.kind = supervisor::question::whose;
  p.device = device;
  p.inode = inode;
  if (!ask(p, nullptr, 0, reply)) return {};
  return {reply.path, std::min<size_t>(reply.path_length, sizeof reply.path)};
}

void close_link_in_child() noexcept {
  close_own(link);
  link = kept_number();
  lost = false;
}

}  // namespace scute::core::interpose
