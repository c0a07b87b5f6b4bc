import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { PROJECT } from '../../support/compiled-program.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../temporary-library.ts'

const LAUNCHER = join(PROJECT, 'test', 'support', 'forbid-priority.py')
const CHILD = join(PROJECT, 'src', 'embedded', 'ingest', 'child-process', 'child.ts')

it('recognition of text starts where no process may change its priority', async () => {
  needs('python3')
  const args = [LAUNCHER, process.execPath, CHILD, '512', 'recognizer', temporaryDirectory()]
  const child = spawn('python3', args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const first = await Promise.race([once(child, 'message'), once(child, 'exit')])
  expect(first[0]).toEqual({ kind: 'ready' })
})
