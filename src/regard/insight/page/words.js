// Everything that the page says, in English and Chinese. A test holds both to the same keys.

export const WORDS = {
  en: {
    title: "where a model looks", skip: "Skip to the sentence", model: "Model", language: "中文", languageTitle: "Chinese interface",
    theme: "Theme", "theme.": "as the system", "theme.light": "light", "theme.dark": "dark", keys: "Keys", about: "About",
    text: "Type a sentence", "text.pair": "Type a sentence, or two", look: "Look", looking: "Looking …", examples: "Or try", second: "Second text", "second.translate": "Its translation (empty: the model’s own)",
    addSecond: "Add a second text", addTranslation: "Give its translation", removeSecond: "Remove", generate: "tokens to add", generateTitle: "The model goes on with the text by so many tokens, the likeliest each time",
    asks: "asks", reads: "reads from", both: "asks, reads", asksAxis: "asks ↓", readsAxis: "reads from →",
    gives: "*{asks}* gives {shares}", to: "{weight} to *{reads}*", givesNothing: "*{asks}* gives nothing to anyone that is shown", gets: "*{reads}* gets {shares}", from: "{weight} from *{asks}*", getsNothing: "*{reads}* gets nothing",
    hiddenHere: "; hidden marks hold {weight}", times: ": {times} times an even share ({even})", and: ", ",
    hint: "Rest on a word to see where it looks. Click to keep it. Esc lets go.",
    hiddenAll: "Hidden marks hold {share} of the weight, on average.",
    attention: "Attention", layer: "Layer", head: "Head", layerN: "layer {n}", headN: "head {n}", mean: "mean of all", oneHead: "one head",
    "family.encoder.self": "text ↔ itself", "family.encoder.self.translate": "source ↔ itself", "family.decoder.self": "text → what came before", "family.decoder.self.translate": "translation → what came before", "family.decoder.cross": "translation → source", "family.decoder.align": "translation → source", "family.pool": "class → text",
    words: "whole words", wordsTitle: "Merge pieces into words: a word gives what its pieces give on average, and gets what they get in sum", marks: "marks", marksTitle: "Show marks such as </s>, [CLS], [SEP]",
    more: "More", min: "Hide weights below", scale: "Darkest colour is", "scale.most": "the largest weight here (or 4 even shares)", "scale.one": "a weight of 1", "scale.root": "the largest, faint ones raised", base: "compare with even attention", baseTitle: "Shows how much more, or less, than an even share each token gets",
    palette: "Colours", "palette.blue": "blue", "palette.amber": "amber", "palette.grey": "grey", "palette.cividis": "cividis",
    how: "Weights", "how.raw": "as they are", "how.rollout": "rollout", "how.norm": "× size of values", "howTitle.raw": "The weights of this layer", "howTitle.rollout": "Multiplied through all layers up to this one, half of each kept for the token itself", "howTitle.norm": "Weighted by how large the value vector of each token is",
    gold: "Known links (source-target, from 0: 0-0 1-2 2-1p)", goldSaid: "alignment error rate {aer} · precision {precision} · recall {recall}", goldKnown: "known links: alignment error rate {aer} here; lowest {best} ({name}, head {head})", goldWords: "Known links are counted in whole words without marks: turn these on and marks off.",
    view: "View", "view.matrix": "Matrix", "view.lines": "Lines", "view.table": "Table",
    matrixLabel: "Matrix of weights, {asks} by {reads} tokens. Arrow keys move, Enter keeps, the table view tells all figures.", linesLabel: "Lines between {asks} tokens that ask and {reads} that are read. Arrow keys move, Enter keeps.",
    weight: "weight", difference: "more or less than even", less: "less", moreThan: "more", compareDifference: "second minus first",
    heads: "All heads", sortBy: "sort by", "sort.layer": "layer", "sort.diagonal": "diagonal", "sort.previous": "previous token", "sort.sink": "sink", "sort.entropy": "entropy", "tag.diagonal": "diagonal", "tag.previous": "previous", "tag.sink": "sink", "tag.even": "even", layersComing: "{n} more layers are coming …",
    headsNote: "Rows are layers, columns heads. Diagonal: looks at itself. Previous: at the token before. Sink: most of it goes to one token. Even: looks everywhere alike.",
    table: "Table of weights", tableGives: "What “{token}” gives", tableGets: "What “{token}” gets", tableAll: "All weights: rows ask, columns are read", tableLarge: "All {n} weights are too many for a table: pin a token to see its row, or take CSV.",
    step: "Step", play: "Play", pause: "Pause", stepOf: "{n} of {all}",
    honest: "Weights say where the model looked, not why it answered so.", honestMore: "A token that gets much weight may matter little, and the other way round: what is mixed is the value vector, layers add to what was there before, and heads can be changed without changing the answer. Compare with even attention, with rollout and with the size of values before you conclude anything.",
    save: "Save", copyPython: "Copy as Python", copyLink: "Copy link", copied: "Copied", "save.png": "PNG", "save.svg": "SVG", "save.csv": "CSV", "save.json": "JSON", "save.html": "HTML", saveTitle: "The picture, or all numbers",
    exact: "numbers as the model gives them (float16)", rough: "numbers to ±0.002 (uint8)",
    said: "says", class: "class {label}, probability {p}",
    "tab.look": "Look", "tab.steps": "Step by step", "tab.decode": "Decoding", "tab.compare": "Compare",
    none: "{model} has no attention.", noneWhy: "It reads the sentence word by word into one vector and writes from that alone: whatever is to be said must pass through these numbers. There is no matrix to show; that is why attention was invented.", noneInstead: "What it has instead", noneSource: "It reads", noneVector: "one vector", noneSize: "one vector of {n} numbers", noneTarget: "It writes", noneStep: "step", noneClass: "It reads the whole text into one vector and chooses the class from that.",
    empty: "Type something first: there is nothing to look at.", gone: "The server does not answer.", goneDo: "It may have been stopped. What is on the page stays; try again when it runs.", again: "Try again", too_long: "This text is too long for the model.", too_large: "This text is too large to be sent.", busy: "The server has too much to do at the moment.", timeout: "The model took too long.", lost: "The model’s process was lost; it is being started again.", closing: "The server is being stopped.", not_loaded: "The model is being loaded again.", fault: "The server made a mistake; its log says more.", host: "The server answers to its own machine only.", origin: "The server does not answer to this page.", http: "Something between the page and the server answered instead.", model_not_found: "This server does not have that model.", invalid: "The model cannot take this.", tooMany: "{n} tokens are more than a page can draw.", tooManyDo: "Up to {most} can be shown: give a shorter text.", broken: "This page’s data cannot be read.", unexpected: "Something went wrong on this page.", noModels: "No model here can be looked at.", found: "found", wanted: "wanted",
    locked: "This server asks for a key.", wrongKey: "That key does not fit.", key: "Key", unlock: "Open", keyNote: "It is kept until you close this tab, and sent to this server only.",
    keysTitle: "Keys", "keys.tab": "move between parts", "keys.arrows": "move within a part: words, cells, heads", "keys.enter": "keep a word, a cell or a head", "keys.esc": "let go", "keys.layer": "layer before, after", "keys.head": "head before, after", "keys.words": "words or pieces", "keys.marks": "marks", "keys.view": "next view", "keys.help": "this list", close: "Close",
    stage: "Stage", "stage.raw": "score", "stage.scaled": "scaled", "stage.masked": "masked", "stage.softmax": "softmax", "stage.focused": "near the centre", "stage.hard": "only the best", "stage.weights": "weight", "stage.context": "× values",
    workingsOf: "How *{asks}* came to look at *{reads}*: {name}, head {head}", workingsHead: "The mean of heads is not computed by the model: here is head 0. Choose another above.", workingsTable: "Each stage for each token that is read", workingsCut: "The {n} largest of {all}.",
    "stageSaid.raw": "The score of *{token}* is {raw}: how well what is asked fits what it offers.", "stageSaid.scaled": "Divided so that scores stay small however wide the vectors are: {raw} × {scale} = {score}.", "stageSaid.masked": "{may} of {all} tokens may be looked at; the others get −∞.", "stageSaid.softmax": "e^{score}, divided by the sum over all tokens: {softmax}. Now they sum to 1.", "stageSaid.focused": "Multiplied by how near it is to the centre of the window, {centre}: {weight}.", "stageSaid.hard": "All of it goes to the best one: {weight}.", "stageSaid.weights": "The weight of *{token}* is {weight}.", "stageSaid.context": "*{token}* brings {weight} × a vector of size {reach} = {added}; all together make a vector of size {norm}.",
    flow: "One step of {architecture}", flowSaid: "It reads “{reads}” and writes “{writes}”.", flowRead: "At “{reads}”.", flowFrom: "from {inputs}", flowTop: "What it could write",
    positions: "Where a token stands", "positions.sinusoidal": "Each place (downwards) has {width} numbers: sines and cosines, quick ones on the left and slow ones on the right.", "positions.halves": "Each place (downwards) has {width} numbers: sines in the first half, cosines in the second.", "positions.learned": "Each place (downwards) has {width} numbers, which were learned.", positionsLabel: "{n} places by {width} numbers",
    masks: "What may be seen", padding: "empty places behind the text", "mask.look-ahead": "nothing that comes later", "mask.padding": "no empty places", "mask.window": "only the window", "mask.none": "everything", maskLabel: "May be seen: {kinds}",
    timeline: "Steps of decoding", timelineSaid: "Log-probability {p}. Click another word to force it and see what comes of it.", unforce: "let the model choose again", entropySaid: "{nats} nats", force: "probability {p}, drawn with {drawn}; click to force it", cutAway: "probability {p}; cut away by top-k or top-p; click to force it",
    temperature: "temperature", topk: "top-k (0: all)", topp: "top-p", beam: "beam (0: as usual)", drawAgain: "draw again",
    fill: "Hidden words", fillHint: "Click a word to hide it: the model then says what it could be.", fillN: "For [MASK] {n}",
    beams: "The search, with {n} hypotheses at a time", beamsNote: "The first one won. Choose another and the attention follows it. Faint: dropped on the way. ■: the end.", beamsAll: "all {n} that came to an end", beamsFewer: "only the best", beamsEmpty: "(nothing)", beamsTree: "Tree of hypotheses", beamsLabel: "{n} tokens that were tried; chosen: {text}",
    compareWith: "Compare with", "other.text": "another sentence", "other.head": "another head", "other.model": "another model", "other.update": "an earlier checkpoint", otherText: "Another sentence, such as one that differs in a word", compareMap: "difference, where both have the same {n} × {m} tokens", compareNothing: "They have too few tokens in common for a difference map.", updateN: "after {n} updates", update: "update", sentence: "sentence",
    tokens: "{n} tokens", parameters: "{n} parameters", comma: ", ",
  },
  zh: {
    title: "模型在看哪里", skip: "跳到句子", model: "模型", language: "English", languageTitle: "英文界面",
    theme: "主题", "theme.": "跟随系统", "theme.light": "浅色", "theme.dark": "深色", keys: "快捷键", about: "说明",
    text: "输入一个句子", "text.pair": "输入一个或两个句子", look: "查看", looking: "正在查看……", examples: "或者试试", second: "第二段文字", "second.translate": "它的译文（留空则由模型翻译）",
    addSecond: "添加第二段文字", addTranslation: "给出译文", removeSecond: "移除", generate: "个词元续写", generateTitle: "模型把文字续写这么多个词元，每次取最可能的一个",
    asks: "提问", reads: "读取", both: "提问并读取", asksAxis: "提问 ↓", readsAxis: "读取 →",
    gives: "*{asks}* 把 {shares}", to: "{weight} 给了 *{reads}*", givesNothing: "*{asks}* 没有把权重给任何显示出来的词", gets: "*{reads}* 得到：{shares}", from: "*{asks}* 给的 {weight}", getsNothing: "*{reads}* 什么也没有得到",
    hiddenHere: "；隐藏的标记占 {weight}", times: "：是平均份额（{even}）的 {times} 倍", and: "，",
    hint: "把鼠标移到一个词上，看它在看哪里。点击固定，Esc 取消。",
    hiddenAll: "隐藏的标记平均占去 {share} 的权重。",
    attention: "注意力", layer: "层", head: "头", layerN: "第 {n} 层", headN: "第 {n} 头", mean: "全部平均", oneHead: "单头",
    "family.encoder.self": "文字 ↔ 自身", "family.encoder.self.translate": "原文 ↔ 自身", "family.decoder.self": "文字 → 前文", "family.decoder.self.translate": "译文 → 前文", "family.decoder.cross": "译文 → 原文", "family.decoder.align": "译文 → 原文", "family.pool": "类别 → 文字",
    words: "合并成词", wordsTitle: "把词片合并成词：一个词给出的是各片的平均，得到的是各片之和", marks: "标记", marksTitle: "显示 </s>、[CLS]、[SEP] 这类标记",
    more: "更多", min: "隐藏小于此值的权重", scale: "最深的颜色表示", "scale.most": "这里最大的权重（至少四个平均份额）", "scale.one": "权重 1", "scale.root": "最大权重，并提亮微弱的", base: "与平均分配相比", baseTitle: "显示每个词元比平均份额多得或少得多少",
    palette: "颜色", "palette.blue": "蓝", "palette.amber": "琥珀", "palette.grey": "灰", "palette.cividis": "cividis",
    how: "权重", "how.raw": "原样", "how.rollout": "逐层累乘", "how.norm": "× 值的大小", "howTitle.raw": "这一层的权重", "howTitle.rollout": "从第一层乘到这一层，每层有一半留给词元自己", "howTitle.norm": "按每个词元的值向量大小加权",
    gold: "已知对齐（原文-译文，从 0 数起：0-0 1-2 2-1p）", goldSaid: "对齐错误率 {aer} · 精确率 {precision} · 召回率 {recall}", goldKnown: "已知对齐：这里的错误率 {aer}；最低 {best}（{name}，第 {head} 头）", goldWords: "已知对齐按整词、不含标记计数：请打开“合并成词”，关闭“标记”。",
    view: "视图", "view.matrix": "矩阵", "view.lines": "连线", "view.table": "表格",
    matrixLabel: "权重矩阵，{asks} 乘 {reads} 个词元。方向键移动，回车固定；表格视图给出全部数字。", linesLabel: "{asks} 个提问的词元与 {reads} 个被读取的词元之间的连线。方向键移动，回车固定。",
    weight: "权重", difference: "比平均多或少", less: "少", moreThan: "多", compareDifference: "第二个减第一个",
    heads: "所有的头", sortBy: "排序", "sort.layer": "按层", "sort.diagonal": "对角", "sort.previous": "前一词元", "sort.sink": "汇聚", "sort.entropy": "熵", "tag.diagonal": "对角", "tag.previous": "前一个", "tag.sink": "汇聚", "tag.even": "均匀", layersComing: "还有 {n} 层正在传来……",
    headsNote: "行是层，列是头。对角：看自己。前一个：看前一个词元。汇聚：大多给了一个词元。均匀：到处看得一样多。",
    table: "权重表", tableGives: "“{token}”给出的", tableGets: "“{token}”得到的", tableAll: "全部权重：行提问，列被读取", tableLarge: "共 {n} 个权重，表格放不下：固定一个词元看它的一行，或导出 CSV。",
    step: "步", play: "播放", pause: "暂停", stepOf: "{n} / {all}",
    honest: "权重说明模型看了哪里，并不说明它为什么这样回答。", honestMore: "得到很多权重的词元可能并不重要，反之亦然：真正被混合的是值向量，每一层都加在原有的内容之上，而且改动一些头往往不改变答案。下结论之前，请先与平均分配、逐层累乘和值的大小比较。",
    save: "保存", copyPython: "复制为 Python", copyLink: "复制链接", copied: "已复制", "save.png": "PNG", "save.svg": "SVG", "save.csv": "CSV", "save.json": "JSON", "save.html": "HTML", saveTitle: "图片，或全部数字",
    exact: "数字与模型给出的一致（float16）", rough: "数字精确到 ±0.002（uint8）",
    said: "输出", class: "类别 {label}，概率 {p}",
    "tab.look": "查看", "tab.steps": "逐步计算", "tab.decode": "解码", "tab.compare": "比较",
    none: "{model} 没有注意力。", noneWhy: "它逐词把句子读进一个向量，然后只凭这个向量来写：要说的一切都得通过这些数字。所以没有矩阵可看；注意力正是为此发明的。", noneInstead: "它有的是", noneSource: "它读", noneVector: "一个向量", noneSize: "一个向量，{n} 个数", noneTarget: "它写", noneStep: "步", noneClass: "它把整段文字读进一个向量，再由此选出类别。",
    empty: "请先输入文字：现在还没有可看的。", gone: "服务器没有回答。", goneDo: "它可能已经停止。页面上的内容还在；等它运行时再试。", again: "再试一次", too_long: "这段文字对模型来说太长了。", too_large: "这段文字太大，无法发送。", busy: "服务器现在太忙。", timeout: "模型用时太久。", lost: "模型的进程丢失了，正在重新启动。", closing: "服务器正在停止。", not_loaded: "模型正在重新加载。", fault: "服务器出错了，它的日志里有详情。", host: "这个服务器只回答本机。", origin: "服务器不回答这个页面。", http: "在页面和服务器之间有别的东西作了回答。", model_not_found: "这个服务器没有那个模型。", invalid: "模型无法接受这个输入。", tooMany: "{n} 个词元超出了页面能画的范围。", tooManyDo: "最多可显示 {most} 个：请输入短一些的文字。", broken: "这个页面的数据无法读取。", unexpected: "页面出错了。", noModels: "这里没有可以查看的模型。", found: "实际", wanted: "需要",
    locked: "这个服务器需要密钥。", wrongKey: "密钥不对。", key: "密钥", unlock: "打开", keyNote: "它只保留到关闭此标签页为止，也只发送给这个服务器。",
    keysTitle: "快捷键", "keys.tab": "在各部分之间移动", "keys.arrows": "在一个部分内移动：词、格子、头", "keys.enter": "固定一个词、格子或头", "keys.esc": "取消固定", "keys.layer": "上一层、下一层", "keys.head": "上一头、下一头", "keys.words": "词或词片", "keys.marks": "标记", "keys.view": "下一个视图", "keys.help": "这个列表", close: "关闭",
    stage: "阶段", "stage.raw": "打分", "stage.scaled": "缩放", "stage.masked": "掩码", "stage.softmax": "softmax", "stage.focused": "靠近中心", "stage.hard": "只取最佳", "stage.weights": "权重", "stage.context": "× 值",
    workingsOf: "*{asks}* 怎样看到 *{reads}*：{name}，第 {head} 头", workingsHead: "各头的平均并不是模型算出来的：这里是第 0 头。可以在上面另选。", workingsTable: "每个被读取的词元在每个阶段的数值", workingsCut: "只列出 {all} 个中最大的 {n} 个。",
    "stageSaid.raw": "*{token}* 的得分是 {raw}：所问与它所提供的有多相合。", "stageSaid.scaled": "除以一个数，使得分不随向量变宽而变大：{raw} × {scale} = {score}。", "stageSaid.masked": "{all} 个词元中可以看 {may} 个，其余得 −∞。", "stageSaid.softmax": "e^{score} 除以全部之和：{softmax}。现在它们的和是 1。", "stageSaid.focused": "再乘以离窗口中心 {centre} 有多近：{weight}。", "stageSaid.hard": "全部给最佳的一个：{weight}。", "stageSaid.weights": "*{token}* 的权重是 {weight}。", "stageSaid.context": "*{token}* 带来 {weight} × 大小为 {reach} 的向量 = {added}；全部加起来是大小为 {norm} 的向量。",
    flow: "{architecture} 的一步", flowSaid: "它读“{reads}”，写“{writes}”。", flowRead: "在“{reads}”处。", flowFrom: "来自 {inputs}", flowTop: "它可能写的",
    positions: "词元的位置", "positions.sinusoidal": "每个位置（向下）有 {width} 个数：正弦和余弦，左边快，右边慢。", "positions.halves": "每个位置（向下）有 {width} 个数：前一半是正弦，后一半是余弦。", "positions.learned": "每个位置（向下）有 {width} 个数，是学出来的。", positionsLabel: "{n} 个位置，各 {width} 个数",
    masks: "可以看什么", padding: "文字后面的填充", "mask.look-ahead": "看不到后面的", "mask.padding": "看不到填充", "mask.window": "只看窗口内", "mask.none": "全部可见", maskLabel: "可见：{kinds}",
    timeline: "解码的各步", timelineSaid: "对数概率 {p}。点击另一个词就强制选它，看看后面怎么变。", unforce: "让模型重新选择", entropySaid: "{nats} 奈特", force: "概率 {p}，抽中概率 {drawn}；点击强制选它", cutAway: "概率 {p}；被 top-k 或 top-p 截去；点击强制选它",
    temperature: "温度", topk: "top-k（0：全部）", topp: "top-p", beam: "束宽（0：照常）", drawAgain: "重新抽取",
    fill: "被遮住的词", fillHint: "点击一个词把它遮住，模型会说它可能是什么。", fillN: "第 {n} 个 [MASK]",
    beams: "搜索：同时保留 {n} 个假设", beamsNote: "第一个胜出。选另一个，注意力就跟着它。浅色：中途放弃的。■：结束。", beamsAll: "全部 {n} 个完成的假设", beamsFewer: "只看最好的", beamsEmpty: "（空）", beamsTree: "假设的树", beamsLabel: "试过 {n} 个词元；选中：{text}",
    compareWith: "比较对象", "other.text": "另一个句子", "other.head": "另一个头", "other.model": "另一个模型", "other.update": "更早的检查点", otherText: "另一个句子，例如只差一个词的", compareMap: "差别：两者共有的 {n} × {m} 个词元", compareNothing: "两者共有的词元太少，画不出差别图。", updateN: "更新 {n} 次之后", update: "更新次数", sentence: "句子",
    tokens: "{n} 个词元", parameters: "{n} 个参数", comma: "，",
  },
};

let current = "en";

export function setLanguage(language) {
  current = WORDS[language] ? language : "en";
  document.documentElement.lang = current === "zh" ? "zh-Hans" : "en";
}

export const inChinese = () => current === "zh";

export function say(key, values = {}) {
  const text = WORDS[current][key] ?? key;
  return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}

export const knows = (key) => key in WORDS[current];

export const listed = (parts) => parts.join(say("and"));

export const figure = (weight, digits = 2) => weight.toFixed(digits);
