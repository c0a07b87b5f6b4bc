import { workerData } from 'node:worker_threads'
import { z } from 'zod'
import { answerTexts } from './answer-texts.ts'
import { loadModel } from './load-model.ts'

const { folder } = z.object({ folder: z.string() }).parse(workerData)

answerTexts(() => loadModel(folder))
