import { chooseEmbedder } from '../../app/service-client/choose-embedder.ts'
import { serveAlone } from '../../app/service-client/share-library.ts'
import { origin } from '../../app/settings/values.ts'
import { assertLibraryInstalled } from '../../embedded/optional-packages.ts'
import type { EmbeddedLibrary, EmbeddedOptions } from '../../embedded/start-embedded.ts'
import type { LibraryProblem } from '../../embedded/storage/check-library.ts'
import { untilAborted } from '../../foundation/concurrency/waits.ts'
import { TemporaryError, UsageError } from '../../foundation/errors.ts'
import { describeCommand } from '../../foundation/files/lock-holder.ts'
import { isLoopback } from '../../foundation/network/loopback.ts'
import { wholeNumber } from '../../foundation/text/bounds.ts'
import { counted, escapeText } from '../../foundation/text/safe-text.ts'
import { formatSize } from '../../foundation/text/units.ts'
import { createProgress } from '../../sync/progress.ts'
import { defineCommand } from '../command.ts'

const IN_THE_OPEN =
  'others on the network can reach this server, and plain HTTP lets them read tokens and files on the way; ' +
  'listen on 127.0.0.1 and put a reverse proxy with https in front of it'

export const serveCommand = defineCommand({
  description:
    'Runs until it is stopped, and shows the library to a browser at its address. The first start writes a token with all rights to the file "token" in the data directory.',
  options: {
    host: { type: 'string', default: '127.0.0.1', describe: 'Address to listen on' },
    port: {
      type: 'number',
      bounds: wholeNumber(0, 65_535),
      default: 0,
      describe: 'Port to listen on; 0 means any free port',
    },
    'public-url': {
      type: 'string',
      placeholder: 'URL',
      describe: 'Origin at which a reverse proxy publishes this server',
    },
  },
  settingFlags: ['data-dir'],
  examples: [
    ['serve --port 8800', 'on http://127.0.0.1:8800'],
    ['serve --port 8800 --public-url https://library.example.com', 'behind a reverse proxy with https'],
    ['serve --data-dir ./library --json', 'prints one line of JSON: url, tokenFile and documentation'],
  ],
  exits: ['done', 'locked', 'operator'],
  async run(context, { host, port, publicUrl }) {
    if (!isLoopback(host)) context.logger.warn(IN_THE_OPEN, { host })
    const { dataDir } = context.settings.service
    const options = {
      dataDir,
      host,
      port,
      logger: context.logger,
      startedBy: describeCommand(),
      embedder: chooseEmbedder(context.settings.embedder, context.redactor),
      publicUrl: readPublicUrl(publicUrl),
    }
    await using library = await startLibrary(options, context.signal)
    const { url, tokenFile, documentationUrl } = library
    if (context.json) context.printJson({ url, tokenFile, documentation: documentationUrl })
    else context.print(`Listening on ${url}\ntoken: ${escapeText(tokenFile)}\ndocumentation: ${documentationUrl}`)
    await untilAborted(context.signal)
  },
})

function readPublicUrl(given: string | undefined): string | undefined {
  const { success, data, error } = origin().optional().safeParse(given)
  if (success) return data
  throw new UsageError('bad-usage', `Cannot serve under --public-url ${given}: it must be ${error.issues[0]?.message}`)
}

/** A separate function, because the compiler does not rewrite an import() in a function with `using`. */
async function startLibrary(options: EmbeddedOptions, signal: AbortSignal): Promise<EmbeddedLibrary> {
  assertLibraryInstalled()
  const { startEmbeddedLibrary } = await import('../../embedded/start-embedded.ts')
  return serveAlone(options.dataDir, () => startEmbeddedLibrary(options), signal)
}

const MAX_SHOWN = 100

export const checkCommand = defineCommand({
  description:
    'Reads every page of the database, and compares the bytes of every stored file with their SHA-256. Changes nothing, and works whether or not the server runs.',
  settingFlags: ['data-dir'],
  examples: [
    ['serve check', 'what is wrong with the library of this user, and what to do'],
    ['serve check --data-dir ./library --json', 'counts and problems, for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context) {
    const { dataDir } = context.settings.service
    const { checkLibrary } = await import('../../embedded/storage/check-library.ts')
    const { contents, sizeBytes, problems } = await checkLibrary(dataDir, context.signal)
    if (context.json) context.printJson({ contents, sizeBytes, problems })
    else {
      for (const problem of problems.slice(0, MAX_SHOWN)) context.print(describe(problem))
      if (problems.length > MAX_SHOWN) context.print(`and ${problems.length - MAX_SHOWN} more`)
      const checked = `Checked ${counted(contents, 'content')} (${formatSize(sizeBytes)})`
      context.printMessage(
        `${checked}: ${problems.length === 0 ? 'nothing is wrong' : counted(problems.length, 'problem')}`,
      )
    }
    return problems.length === 0 ? 'done' : 'operator'
  },
})

function describe({ what, todo }: LibraryProblem): string {
  return `${escapeText(what)}\n    ${escapeText(todo)}`
}

export const embedCommand = defineCommand({
  description:
    'Computes vectors for each document in the library on this computer that has none yet, so that searches compare its meaning. If it is stopped, the next run continues from there. The daemon and "shelfd serve" do this by themselves while they run.',
  settingFlags: ['data-dir', 'embedder'],
  examples: [['library embed', 'the documents that a sync left, with progress']],
  exits: ['done', 'temporary', 'locked', 'operator'],
  async run(context) {
    const { settings, signal } = context
    const options = {
      dataDir: settings.service.dataDir,
      startedBy: describeCommand(),
      embedder: chooseEmbedder(settings.embedder, context.redactor),
      embedsDocuments: false,
    }
    await using library = await startLibrary(options, signal)
    const { embedDocuments } = await import('../render/embed-documents.ts')
    const progress = createProgress()
    const limits = { limitMs: Number.POSITIVE_INFINITY, signal }
    const { missing = 0, failure } = (await embedDocuments(context, progress, library.embedFor, limits)) ?? {}
    signal.throwIfAborted()
    if (failure !== undefined) {
      if (missing === 0) throw new UsageError('bad-configuration', `Cannot embed documents: ${failure}`)
      throw new TemporaryError('service-unavailable', `Cannot embed ${counted(missing, 'document')}: ${failure}`)
    }
    const embedded = progress.documentsToEmbed - missing
    if (context.json) context.printJson({ embedded, missing })
    else context.print(missing === 0 ? 'All documents are compared by meaning.' : beyondBound(missing))
  },
})

function beyondBound(missing: number): string {
  return `${counted(missing, 'document has', 'documents have')} no vectors: the library has as many as a search can compare.`
}
