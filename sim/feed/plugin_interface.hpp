// SPDX-License-Identifier: BSD-3-Clause
// Declares the parts of the plugin interface of QEMU 7.2 (version 1 of it) that this front end
// uses: Debian has the program and no header. Registers are not in it; see feed/plugin.cpp.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

using qemu_plugin_id_t = uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_info_t;

using qemu_plugin_tb_trans_cb = void (*)(qemu_plugin_id_t, qemu_plugin_tb*);
using qemu_plugin_udata_cb = void (*)(unsigned cpu, void* of);
using qemu_plugin_mem_cb = void (*)(unsigned cpu, uint32_t info, uint64_t address, void* of);
using qemu_plugin_exit_cb = void (*)(qemu_plugin_id_t, void*);

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_trans_cb);
void qemu_plugin_register_vcpu_tb_exec_cb(qemu_plugin_tb*, qemu_plugin_udata_cb, int flags, void*);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, qemu_plugin_udata_cb, int flags,
                                            void*);
void qemu_plugin_register_vcpu_mem_cb(qemu_plugin_insn*, qemu_plugin_mem_cb, int flags,
                                      int read_write, void*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_exit_cb, void*);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, size_t);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
bool qemu_plugin_mem_is_store(uint32_t info);
unsigned qemu_plugin_mem_size_shift(uint32_t info);
}

namespace scute::sim {
inline constexpr int plugin_no_registers = 0, plugin_reads_and_writes = 3;
}
