import { FLEET_BUGS, type PlantedBug } from './fleet-bugs.ts'

/** Bugs that are planted into the program one at a time, to see that the simulation finds them. */
export const BUGS: readonly PlantedBug[] = [
  {
    name: 'a receipt is not waited for on the disk',
    file: 'src/sync/upload/upload-batcher.ts',
    from: 'this.#engine.store.write(work)',
    to: 'this.#engine.store.writeRelaxed(work)',
  },
  {
    name: 'a file is reported as sent before that is committed',
    file: 'src/sync/upload/upload-recorder.ts',
    from: 'this.#consequences.push(follow)',
    to: 'void follow()',
  },
  {
    name: 'what a failed commit stored is reported by the next one',
    file: 'src/sync/upload/upload-batcher.ts',
    from: 'this.#recorder.rolledBack()',
    to: 'this.#ended.length = 0',
  },
  {
    name: 'a file that vanishes before its upload is not named',
    file: 'src/sync/upload/upload-recorder.ts',
    from: '        this.#recordUnread(intent, result.problem)\n        break',
    to: "        if (result.problem.code !== 'vanished') this.#recordUnread(intent, result.problem)\n        break",
  },
  {
    name: 'a file that changes before its upload is not named',
    file: 'src/sync/upload/upload-recorder.ts',
    from: '        this.#recordUnread(intent, result.problem)\n        break',
    to: "        if (result.problem.code !== 'busy') this.#recordUnread(intent, result.problem)\n        break",
  },
  {
    name: 'a cut-off upload counts as not sent',
    file: 'src/store/tables/contents.ts',
    from: `SET state = 'doubt', doubts = doubts + 1
     WHERE (state = 'sending' OR state = 'doubt') AND state = 'sending'`,
    to: `SET state = 'new'
     WHERE (state = 'sending' OR state = 'doubt') AND state = 'sending'`,
  },
  {
    name: 'a doubt is sent again without a search',
    file: 'src/sync/doubts/resolve-doubts.ts',
    from: ': await searchFor(context, visit, foreign.found)',
    to: ': { found: void foreign }',
  },
  {
    name: 'a lost answer counts as a failure',
    file: 'src/remote/wire/transient-failure.ts',
    from: "if (details.mayHaveTakenEffect && request.body?.kind === 'file') {",
    to: "if (details.mayHaveTakenEffect && request.body?.kind === 'none') {",
  },
  {
    name: 'an upload is repeated after its answer was lost',
    file: 'src/remote/endpoints/resource-endpoints.ts',
    from: "right: 'resource.create',\n        retry: 'if-without-effect',",
    to: "right: 'resource.create',\n        retry: 'always',",
  },
  {
    name: 'any answer of 2xx counts as stored',
    file: 'src/sync/upload/upload-one.ts',
    from: '    if (error instanceof DoubtError) return {',
    to: "    if (error instanceof DoubtError) return { kind: 'stored', resourceId: 'resource-0', isDuplicate: false }\n    if (error instanceof DoubtError) return {",
  },
  {
    name: 'a second doubt in a run is sent once more',
    file: 'src/rules/doubts.ts',
    from: '|| (doubts === 0 && failedTries === 0))',
    to: '|| doubts < 4)',
  },
  {
    name: 'a quarantine is not kept',
    file: 'src/rules/doubts.ts',
    from: 'return isSetAside === 0 && quarantineLeftMs(retryAt, nowMs) === 0',
    to: 'return isSetAside === 0 && (retryAt ?? 0) >= 0 && nowMs > 0',
  },
  {
    name: 'a search reads only the first page',
    file: 'src/sync/doubts/search-for-content.ts',
    from: '      pages += 1\n',
    to: '      break\n',
  },
  {
    name: 'a search goes to the inbox, wherever the file was sent',
    file: 'src/sync/doubts/resolve-doubts.ts',
    from: '({ remoteDirectory }) => remoteDirectory)',
    to: "({ remoteDirectory }) => remoteDirectory && '/.inbox')",
  },
  {
    name: 'a search asks for the last name only',
    file: 'src/store/tables/uploads.ts',
    from: 'GROUP BY path, remote_directory ORDER BY max(id) DESC',
    to: 'GROUP BY path, remote_directory ORDER BY max(id) DESC LIMIT 1',
  },
  {
    name: 'a failed search counts as nothing there',
    file: 'src/sync/doubts/search-for-content.ts',
    from: '  return failure ? { failure } : { found: undefined }',
    to: '  return failure && doubts < 0 ? { failure } : { found: undefined }',
  },
  {
    name: 'a login page counts as other bytes',
    file: 'src/sync/doubts/search-for-content.ts',
    from: '      assertNoPage(download, content)\n',
    to: '',
  },
  {
    name: 'a candidate is adopted by its name',
    file: 'src/sync/doubts/resolve-doubts.ts',
    from: 'return found.sha256 !== undefined && content.sha256.equals(found.sha256)',
    to: 'return true',
  },
  {
    name: 'a shown resource is searched for again',
    file: 'src/sync/doubts/resolve-doubts.ts',
    from: ' && !contents.findByResource(mirror.row.library.id, entry.id)\n',
    to: ' && entry.id === ""\n',
  },
  {
    name: 'the fingerprint leaves out the inode',
    file: 'src/rules/compare-directory.ts',
    from: '    fingerprint.inode === row[4] &&\n',
    to: '',
  },
  {
    name: 'the fingerprint leaves out times and inode',
    file: 'src/rules/compare-directory.ts',
    from: `    fingerprint.mtimeNs === row[2] &&
    fingerprint.ctimeNs === row[3] &&
    fingerprint.inode === row[4] &&
`,
    to: '',
  },
  {
    name: 'a hash taken too soon is trusted',
    file: 'src/rules/compare-directory.ts',
    from: 'return row[5] === 0n && looksUnchanged(fingerprint, row)',
    to: 'return looksUnchanged(fingerprint, row)',
  },
  {
    name: 'the bytes are not compared with the hash',
    file: 'src/local/read/read-verified.ts',
    from: '  if (sha256 !== wanted) throw changedWhileRead(file.relativePath)',
    to: '  if (sha256 === "") throw changedWhileRead(file.relativePath)',
  },
  {
    name: 'a link in a path is followed',
    file: 'src/local/read/open-guarded.ts',
    from: '  if (!isUnder(opened.root.realPath, realPathOf(fs, opened, stats))) {',
    to: '  if (!isUnder("/", realPathOf(fs, opened, stats))) {',
  },
  {
    name: 'a file is opened through a link',
    file: 'src/local/read/open-guarded.ts',
    from: 'constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0)',
    to: 'constants.O_RDONLY',
  },
  {
    name: 'another directory in the place of the root is taken for it',
    file: 'src/sync/pin/open-mirror.ts',
    from: '  if (pinned && !options.acceptsRoot) assertSameRoot(pinned, root)',
    to: '',
  },
  {
    name: 'an emptied root is recorded as removals',
    file: 'src/rules/guard-lost-files.ts',
    from: "  if (found === 0 && stored >= MIN_EMPTIED) return 'emptied'\n",
    to: '',
  },
  {
    name: 'new files in the place of all others are sent',
    file: 'src/rules/guard-lost-files.ts',
    from: "  if (found > 0 && lost >= stored && !isRootAccepted) return 'replaced'\n",
    to: '',
  },
  {
    name: 'a root is read by its path',
    file: 'src/local/read/open-and-recheck-root.ts',
    from: 'place = { realPath, accessPath: opened?.accessPath ?? realPath,',
    to: 'place = { realPath, accessPath: realPath,',
  },
  {
    name: 'another directory than was inspected is opened',
    file: 'src/local/read/open-and-recheck-root.ts',
    from: 'const isSame = dev === device && ino === inode\n    const link',
    to: 'const isSame = dev !== -1n && ino !== -1n\n    const link',
  },
  {
    name: 'uploads are intended without a check of the root',
    file: 'src/sync/upload/upload-batcher.ts',
    from: '    if (room > 0) this.#mirror.root.assertInPlace()\n',
    to: '',
  },
  {
    name: 'what lies in an unreadable directory counts as gone',
    file: 'src/sync/scan/scan-mirror.ts',
    from: '    if (scan.seenDirectories.has(path) || scan.unreadable.some((ancestor) => isWithin(ancestor, path))) continue',
    to: '    if (scan.seenDirectories.has(path)) continue',
  },
  {
    name: 'every file counts as plain text',
    file: 'src/sync/scan/record-batches.ts',
    from: '{ directoryId, size, previous, ...file }, lastContentId',
    to: "{ directoryId, size, previous, ...file, mime: 'text/plain' }, lastContentId",
  },
  {
    name: 'an unknown state counts as searchable',
    file: 'src/contract/states.ts',
    from: "return isIngestionStatus(status) ? OUTCOMES[status] : 'unknown'",
    to: "return isIngestionStatus(status) ? OUTCOMES[status] : 'searchable'",
  },
  {
    name: 'partial counts as searchable',
    file: 'src/contract/states.ts',
    from: "  partial: 'partial',",
    to: "  partial: 'searchable',",
  },
  {
    name: 'a run that failed files ends well',
    file: 'src/rules/run-outcome.ts',
    from: `  if (mirrors.some(hasLastingFailures)) return 'failures'
  if (mirrors.some(({ problems }) => problems.length > 0)) return 'temporary'
`,
    to: '',
  },
  {
    name: 'a refused file counts as a temporary failure',
    file: 'src/rules/run-outcome.ts',
    from: "  if (mirrors.some(hasLastingFailures)) return 'failures'\n",
    to: '',
  },
  {
    name: 'doubts are no failure',
    file: 'src/sync/run/summarize.ts',
    from: '.filter(({ id }) => !inFlight.has(id))',
    to: ".filter(({ id, state }) => !inFlight.has(id) && state !== 'doubt')",
  },
  {
    name: 'pending ingestion counts as done',
    file: 'src/rules/run-outcome.ts',
    from: "  if (isWaiting && mirrors.some((mirror) => mirror.ingestion.pending > 0)) return 'pending'\n",
    to: '',
  },
  {
    name: 'Retry-After holds for its own request only',
    file: 'src/remote/policies/circuit-breaker.ts',
    from: `    this.#openUntilMs = Math.max(this.#openUntilMs, nowMs + delayMs)
    if (retryAfterMs !== undefined) {
      retryAfter.record(retryAfterMs)`,
    to: `    this.#openUntilMs = Math.max(this.#openUntilMs, nowMs)
    if (retryAfterMs !== undefined) {`,
  },
  {
    name: 'a limit of a run counts nothing',
    file: 'src/sync/upload/upload-plan.ts',
    from: '    this.#used = { inRun: inRun + 1, inDay: inDay + 1, bytesInRun: bytesInRun + file.size }',
    to: '    this.#used = { inRun, inDay, bytesInRun: bytesInRun + file.size }',
  },
  {
    name: 'a dry run sends',
    file: 'src/sync/run/sync-mirror.ts',
    from: '  if (options.isDryRun) {',
    to: '  if (options.isDryRun && options.waitMs < 0) {',
  },
  {
    name: 'two files of one content are both sent',
    file: 'src/sync/upload/upload-plan.ts',
    from: "    store.contents.setState(file.contentId, 'sending')\n",
    to: '',
  },
  {
    name: 'one bad poll ends the following of all',
    file: 'src/sync/ingestion/follow-ingestion.ts',
    from: '    if (!isOfItem && !(await isServiceWell(this.#connection, needed, signal))) throw error\n',
    to: '    if (!isOfItem || signal.aborted || needed.right) throw error\n',
  },
  {
    name: 'one bad directory stops all uploads',
    file: 'src/sync/library/create-directories.ts',
    from: '      if (!failure) throw error\n',
    to: '      throw error\n',
  },
  {
    name: 'the stage waits although ingestion has capacity',
    file: 'src/sync/upload/upload-stage.ts',
    from: `    this.#engine.ingestion.announce()
  }

  #prepareIfWoken`,
    to: `  }

  #prepareIfWoken`,
  },
  {
    name: 'what is overdue keeps its capacity',
    file: 'src/sync/ingestion/follow-ingestion.ts',
    from: 'if (this.#schedule.postpone(followed)) this.#engine.ingestion.announce()',
    to: 'this.#schedule.postpone(followed)',
  },
  {
    name: 'a refused poll stops the daemon',
    file: 'src/sync/ingestion/follow-ingestion.ts',
    from: "const isOfItem = othersAnswered || reactToFailure(error).scope === 'item'",
    to: 'const isOfItem = othersAnswered',
  },
  {
    name: 'a wake-up does not end a wait with a time limit',
    file: 'src/foundation/concurrency/auto-reset-event.ts',
    from: '    this.#wake = stop\n',
    to: '',
  },
  {
    name: 'new directories are not watched',
    file: 'src/sync/continuous/rescan-hints.ts',
    from: '      fresh = [...fresh, ...task.watch.add(batch.directories)]',
    to: '      fresh = [...fresh]',
  },
  {
    name: 'a file that still changes is sent at once',
    file: 'src/rules/settled-files.ts',
    from: 'return ageMsOf(file, nowMs) >= settleMs',
    to: 'return ageMsOf(file, nowMs) >= -settleMs',
  },
  {
    name: 'a directory is created before its parent',
    file: 'src/sync/library/create-directories.ts',
    from: "path !== '' && paths.has(parentOf(path))",
    to: "path !== '' && paths.has(parentOf(path) + '/')",
  },
  {
    name: 'the wall clock decides when to look again',
    file: 'src/rules/retry-delay.ts',
    from: 'return retryAt !== null && retryAt >= first && retryAt <= last ? retryAt - nowMs : 0',
    to: 'return retryAt !== null && retryAt >= first ? retryAt - nowMs : 0',
  },
  {
    name: 'a clock set back makes room in the limit of a day',
    file: 'src/rules/clock-history.ts',
    from: 'beforeMs: wallMs + spanMs, delayMs: 0',
    to: 'beforeMs: wallMs + 1, delayMs: 0',
  },
  {
    name: 'a document is removed before the store knows',
    file: 'src/sync/operator/tidy-library.ts',
    from: '    const recorded = new Set(',
    to: '    await finishRemovals(context, group)\n    const recorded = new Set(',
  },
  {
    name: 'what was removed is sent again',
    file: 'src/store/tables/unused-resources.ts',
    from: 'is_set_aside = 1 WHERE',
    to: 'is_set_aside = 0 WHERE',
  },
  {
    name: 'an earlier version that another file has is removed',
    file: 'src/store/tables/unused-resources.ts',
    from: 'AND path = @path) AND ',
    to: 'AND path = @path) AND 1 OR 0 AND ',
  },
  ...FLEET_BUGS,
]
