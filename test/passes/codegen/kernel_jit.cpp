// Loading of objects with ORC, and memory between guard pages.
// SPDX-License-Identifier: Apache-2.0
#include "test/passes/codegen/kernel_jit.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;

namespace pdg::test {

static DialectRegistry makeRegistry() {
  DialectRegistry registry;
  registerCodegenDialects(registry);
  return registry;
}

KernelJit::KernelJit(const TargetInfo &target)
    : target_(target), context_(makeRegistry(), MLIRContext::Threading::DISABLED) {
  context_.loadAllAvailableDialects();
  module_ = ModuleOp::create(UnknownLoc::get(&context_));
}

void KernelJit::compile() {
  llvm::ExitOnError check("kernel: ");
  auto object = check(compileToObject(*module_, target_));
  jit_ = check(llvm::orc::LLJITBuilder().create());
  check(jit_->addObjectFile(std::move(object)));
}

void *KernelJit::address(const std::string &name) {
  llvm::ExitOnError check("kernel: ");
  return check(jit_->lookup(name)).toPtr<void *>();
}

GuardedBuffer::GuardedBuffer(size_t bytes, Side side, size_t alignment) {
  size_t page = sysconf(_SC_PAGESIZE), inner = (bytes + page - 1) / page * page;
  mapped_ = inner + 2 * page;
  mapping_ = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char *begin = static_cast<char *>(mapping_) + page;
  if (mapping_ == MAP_FAILED || (inner && mprotect(begin, inner, PROT_READ | PROT_WRITE)))
    abort();
  size_t slack = side == Side::Low ? 0 : (inner - bytes) / alignment * alignment;
  data_ = begin + slack;
}

GuardedBuffer::~GuardedBuffer() { munmap(mapping_, mapped_); }

std::vector<TargetInfo> testedTargets() {
  std::vector<TargetInfo> targets;
  for (const TargetInfo &target : {avx2Target(), avx512Target()})
    if (hostRuns(target))
      targets.push_back(target);
  return targets;
}

bool takesTurn(const TargetInfo &target, int index) {
#ifdef PDG_SLOW_TESTS
  return true;
#else
  std::vector<TargetInfo> targets = testedTargets();
  return targets[index % targets.size()].name == target.name;
#endif
}

} // namespace pdg::test
