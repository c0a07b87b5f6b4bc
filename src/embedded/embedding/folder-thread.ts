import { z } from 'zod'
import { threadData } from '../../foundation/concurrency/threads.ts'
import { answerTexts } from './answer-texts.ts'
import { loadModel } from './load-model.ts'

const { folder } = z.object({ folder: z.string() }).parse(threadData)

answerTexts(() => loadModel(folder))
